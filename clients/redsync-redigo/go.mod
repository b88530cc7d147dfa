module github.com/locksim/locksim/clients/redsync-redigo

go 1.26.0

require (
	github.com/go-redsync/redsync/v4 v4.18.1
	github.com/gomodule/redigo v1.9.3
	github.com/locksim/locksim v0.0.0
	github.com/locksim/locksim/clients/redsync v0.0.0
)

replace (
	github.com/locksim/locksim => ../..
	github.com/locksim/locksim/clients/redsync => ../redsync
)
