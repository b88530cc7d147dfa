// Command client-go brings the leader election of Kubernetes' client-go into a simulation, with the numbers of Kubernetes' own
// components in proportion to the lease, but for what the scenario says.
package main

import (
	"github.com/locksim/locksim/clients/client-go/lock"
	"github.com/locksim/locksim/guest"
)

func main() {}

func init() { guest.Register(func(c guest.Config) (guest.Mutex, error) { return lock.Open(c, false) }) }
