// Command unregistered imports package guest, and brings no lock.
package main

import "github.com/locksim/locksim/guest"

func main() { _ = guest.Dial }
