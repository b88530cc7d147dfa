module github.com/locksim/locksim/clients/rueidislock

go 1.26.0

require (
	github.com/locksim/locksim v0.0.0
	github.com/redis/rueidis v1.0.79
)

require golang.org/x/sys v0.48.0 // indirect

replace github.com/locksim/locksim => ../..
