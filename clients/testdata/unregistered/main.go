// Command unregistered imports package guest, but registers no lock.
package main

import "github.com/locksim/locksim/guest"

func main() { _ = guest.Dial }
