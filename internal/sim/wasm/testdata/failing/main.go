// Command failing panics before it is a client.
package main

import "github.com/locksim/locksim/guest"

func main() {}

func init() {
	var lists [][]int
	guest.Register(nil)
	lists[1][0] = 2
}
