package redis

// Observer sees the truth about a server's keys, as no client can. Changes are valid until the method returns.
type Observer interface {
	// Executed is called after a request has been executed, with what it changed. Keys that were found expired on
	// the way are among the changes.
	Executed(s *Server, r *Request, reply Reply, changes []Change)
	// Expired is called when keys have ended without a request: their deadlines have passed, or they were evicted.
	Expired(s *Server, changes []Change)
	// Crashed is called when the server has lost its memory.
	Crashed(s *Server)
	// Restarted is called when the server has loaded what its disk had kept.
	Restarted(s *Server)

	// Applied is called when a replica has carried out what its master sent: its own changes, each with the request
	// that made it on the master.
	Applied(s *Server, changes []Change)
	// Replaced is called when a full resynchronisation has replaced a replica's whole dataset. The records are all the
	// keys that are there now, each with the request that wrote it.
	Replaced(s *Server, keys []Record)
	// Promoted is called when a replica has become a master.
	Promoted(s *Server)
	// Demoted is called when a master has become a replica. What it holds changes only later, if at all.
	Demoted(s *Server)
}
