// Command mainless has no main.
package main

import "github.com/locksim/locksim/guest"

func init() { guest.Register(nil) }
