package backend

// The purposes of a request: the second name by which traces and faults know a message.
const (
	Acquire = "acquire" // may make the lock's key
	Look    = "look"    // looks whether it is there
	Renew   = "renew"   // prolongs its life
	Release = "release" // may remove it
)
