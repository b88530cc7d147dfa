// Command looping never completes its initialisation.
package main

import "github.com/locksim/locksim/guest"

func main() {}

var turns int

func init() {
	guest.Register(nil)
	for {
		turns++
	}
}
