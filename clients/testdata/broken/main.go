// Command broken does not compile.
package main

import "github.com/locksim/locksim/guest"

func main() {}

func init() { guest.Register(nobody) }
