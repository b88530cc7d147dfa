module example.test/elsewhere

go 1.26.0

require (
	github.com/locksim/locksim v0.0.0
	golang.org/x/sys v0.48.0
)

replace github.com/locksim/locksim => ../../..
