// Command silent forgets to say which lock it brings.
package main

import _ "github.com/locksim/locksim/guest"

func main() {}
