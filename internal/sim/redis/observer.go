package redis

// Observer sees the ground truth about a server's keys, which no client can see. Changes are valid until the
// method returns.
type Observer interface {
	// Executed is called after a request has been executed, with its changes. They include keys that it found
	// expired.
	Executed(s *Server, r *Request, reply Reply, changes []Change)
	// Expired is called when keys have ended without a request: their deadlines have passed, or they were evicted.
	Expired(s *Server, changes []Change)
	// Crashed is called when the server has lost its memory.
	Crashed(s *Server)
	// Restarted is called when the server has loaded the data on its disk.
	Restarted(s *Server)

	// Applied is called when a replica has carried out its master's commands: the replica's changes, each with the
	// request that made it on the master.
	Applied(s *Server, changes []Change)
	// Replaced is called when a full resynchronisation has replaced a replica's whole dataset. The records are all the
	// keys that are there now, each with the request that wrote it.
	Replaced(s *Server, keys []Record)
	// Promoted is called when a replica has become a master.
	Promoted(s *Server)
	// Demoted is called when a master has become a replica. Its data change only later, if at all.
	Demoted(s *Server)
}
