// Command unready always exits while it sets up its lock.
package main

import (
	"log"

	"github.com/locksim/locksim/guest"
)

func main() {}

func init() { guest.Register(open) }

func open(guest.Config) (guest.Mutex, error) {
	log.SetFlags(0)
	log.Fatal("no configuration")
	return guest.Mutex{}, nil
}
