package sim

// Origin says where a request comes from, for those who observe what servers do with it. The requests of every server
// embed it; servers carry it about and do not look at it.
type Origin struct {
	Client string // the node that sent it
	Tag    int    // what it belongs to: an acquisition
	Sent   uint64 // its place among all requests that were sent
	Asking bool   // it was sent while its sender was asking for the lock
	Access int    // which access to the protected resource it is, from 1; 0: none
}
