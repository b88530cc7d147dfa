package scenarios

import "time"

// Limits of what a scenario may ask for. They are far above what a story needs and far below what would overflow.
const (
	maxDuration  = 1000 * time.Hour
	maxProcesses = 100_000
	maxServers   = 99
	maxTasks     = 100
	maxSections  = 10_000
	maxRegisters = 100
	maxNamed     = 20 // locks
	maxTries     = 1_000_000
	maxEvents    = 1_000_000_000
	maxCount     = 1_000_000_000_000_000
	maxFaults    = 200
	maxEntries   = 1000      // of any other list or mapping
	maxMatches   = 1_000_000 // of a glob with a node's name
	maxWork      = 5_000_000 // values and processes, over all variants
	maxVariants  = 100
	million      = 1_000_000
)
