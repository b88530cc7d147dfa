package main

// faultEntries describes the faults of scenarios, one entry for each action. A test compares the names with the existing
// actions.
func faultEntries() []faultEntry {
	return []faultEntry{
		{"pause", "a process is paused; its clocks run on, and messages to it wait", []string{"for"}},
		{"crash", "a process or its whole machine crashes, and loses its memory", []string{"kind", "restart", "keep"}},
		{"clock", "a node's clock jumps, or runs at another rate", []string{"step", "rate", "of", "for"}},
		{"cut", "packets between two sets of nodes are lost until the cut ends", []string{"from", "to", "oneway", "for"}},
		{"stall", "messages on a link wait, and neither end is notified", []string{"from", "to", "oneway", "for"}},
		{"delay", "the trigger's message is delayed, with all that follow it on its connection", []string{}},
		{"break", "connections are closed or reset", []string{"from", "to", "how", "lose"}},
		{"error", "a request is answered with an error instead of being executed", []string{}},
		{"same-random", "processes draw the same random numbers, like forked processes", []string{}},
		{"promote", "a replica becomes master, or another server becomes leader", []string{"redirect", "demote"}},
		{"evict", "a server evicts a key to free memory", []string{"key"}},
		{"snapshot", "a server saves its dataset", []string{}},
		{"end-session", "the servers end a client's session or connection", []string{}},
	}
}
