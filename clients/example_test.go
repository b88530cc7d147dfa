package clients_test

import (
	"context"
	"fmt"

	"github.com/locksim/locksim/clients"
)

// A lock library in a version of one's choice is built, and its lock can be played like those of the catalogue.
func ExampleBuild() {
	lock, err := clients.Build(context.Background(), "redsync@v4.15.0")
	if err != nil {
		fmt.Println(err) // the version does not exist, or cannot be compiled for WebAssembly
		return
	}
	fmt.Println(lock.Name, "lives on", lock.Backend())
}

// The libraries that need no program of one's own.
func ExampleNames() {
	fmt.Println(clients.Names())
	// Output:
	// [redsync redsync-redigo redislock redislock-token rueidislock go-zookeeper etcd-mutex consul-api dynamolock aws-sdk-s3 client-go client-go-release]
}
