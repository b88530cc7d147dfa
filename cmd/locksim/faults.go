package main

// faultEntries describes what a scenario can have go wrong, one entry an action. A test holds the names against the
// actions that there are.
func faultEntries() []faultEntry {
	return []faultEntry{
		{"pause", "a process stands still; its clocks run, and what is sent to it waits", []string{"for"}},
		{"crash", "a process dies, or its whole machine, and loses its memory", []string{"kind", "restart", "keep"}},
		{"clock", "a node's clock jumps, or runs at another rate", []string{"step", "rate", "of", "for"}},
		{"cut", "packets vanish between two sets of nodes", []string{"from", "to", "oneway", "for"}},
		{"stall", "what is sent on a link waits, and nobody is told", []string{"from", "to", "oneway", "for"}},
		{"delay", "the message of the trigger is late, and what follows it on its connection", []string{}},
		{"break", "connections are closed or reset", []string{"from", "to", "how", "lose"}},
		{"error", "a request is answered with an error instead of being executed", []string{}},
		{"same-random", "processes draw the same random numbers, as forked twins do", []string{}},
		{"promote", "a replica becomes master, or another server leader", []string{"redirect", "demote"}},
		{"evict", "a server gives up a key to make room", []string{"key"}},
		{"snapshot", "a server saves its dataset", []string{}},
		{"end-session", "the servers take a client for dead, and end its session or its connection", []string{}},
	}
}
