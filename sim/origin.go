package sim

// Origin says where a request comes from, for observers of the servers. The requests of every server embed it;
// servers pass it on and do not read it.
type Origin struct {
	Client  string // the node that sent it
	Tag     int    // the acquisition that it belongs to
	Sent    uint64 // its place among all requests that were sent
	Asking  bool   // it was sent while its sender was asking for the lock
	Leaving bool   // it was sent while its sender was releasing the lock
	Access  int    // which access to the protected resource it is, from 1; 0: none
}

// concerns returns the acquisition that a request belongs to, which a trace that is kept says.
func (o *Origin) concerns() int { return o.Tag }
