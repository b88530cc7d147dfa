module github.com/locksim/locksim/clients/go-zookeeper

go 1.26.0

require (
	github.com/go-zookeeper/zk v1.0.4
	github.com/locksim/locksim v0.0.0
)

replace github.com/locksim/locksim => ../..
