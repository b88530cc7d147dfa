// Command looping is never done with its initialisation.
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
