package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
)

// Attempts is a file beside a ledger that says which stretches are being played. What it says of a process that was killed tells which
// stretches may have killed it: one that was under way when two processes ended is suspected, and its runs are then noted one by one. A run
// that ends its process twice while it is noted is fatal, and is not played any more. A nil *Attempts notes nothing.
type Attempts struct {
	mu      sync.Mutex
	name    string
	file    *os.File // nil until something is noted
	entries []attempt
	size    int
	failed  error
}

// attempt is what is known of a stretch that has not been played to its end.
type attempt struct {
	from   uint64
	ends   int    // how many processes ended while they played it
	active bool   // this process is playing it
	run    uint64 // that is being played, if it is noted
	noted  bool
	fatal  map[uint64]int // how many processes ended while they played a run that was noted
}

// mostEnds is how many processes end before a stretch is suspected, or a run fatal.
const mostEnds = 2

// AttemptsEnding is how the name of the file ends, behind that of the ledger.
const AttemptsEnding = ".playing"

// OpenAttempts reads what earlier processes left beside a ledger. A ledger that begins has none.
func OpenAttempts(ledger string, begins bool) (*Attempts, error) {
	a := &Attempts{name: ledger + AttemptsEnding}
	text, err := os.ReadFile(a.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return a, nil
	case err != nil:
		return nil, err
	case begins:
		return a, os.Remove(a.name)
	}
	for line := range strings.Lines(string(text)) {
		if x, ok := parseAttempt(line); ok {
			a.entries = append(a.entries, x)
		}
	}
	return a, nil
}

// parseAttempt reads a line, of a process that has ended.
func parseAttempt(line string) (x attempt, ok bool) {
	var active, noted bool
	words := strings.Fields(line)
	if len(words) < 5 {
		return x, false
	}
	if _, err := fmt.Sscan(strings.Join(words[:5], " "), &x.from, &x.ends, &active, &noted, &x.run); err != nil {
		return x, false
	}
	x.fatal = make(map[uint64]int)
	for _, word := range words[5:] {
		var run uint64
		var ends int
		if _, err := fmt.Sscanf(word, "%d:%d", &run, &ends); err != nil {
			return x, false
		}
		x.fatal[run] = ends
	}
	if active {
		x.ends++
	}
	if active && noted {
		x.fatal[x.run]++
	}
	x.noted = false
	return x, true
}

func (x *attempt) line() string {
	line := fmt.Sprintf("%d %d %t %t %d", x.from, x.ends, x.active, x.noted, x.run)
	runs := make([]uint64, 0, len(x.fatal))
	for run := range x.fatal {
		runs = append(runs, run)
	}
	slices.Sort(runs)
	for _, run := range runs {
		line += fmt.Sprintf(" %d:%d", run, x.fatal[run])
	}
	return line + "\n"
}

// Suspected returns up to which run stretches are suspected; false if none is.
func (a *Attempts) Suspected() (last uint64, any bool) {
	if a == nil {
		return 0, false
	}
	for i := range a.entries {
		if a.entries[i].ends >= mostEnds {
			last, any = max(last, a.entries[i].from), true
		}
	}
	return last, any
}

// Begin notes that a stretch is being played, and reports whether it is suspected.
func (a *Attempts) Begin(from uint64) (suspected bool) {
	if a == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	i := a.find(from)
	if i < 0 {
		i = len(a.entries)
		a.entries = append(a.entries, attempt{from: from})
	}
	a.entries[i].active = true
	a.write()
	return a.entries[i].ends >= mostEnds
}

// BeginRun notes that a run of a suspected stretch is being played. It reports whether it is fatal, and must not be.
func (a *Attempts) BeginRun(from, run uint64) (fatal bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	x := &a.entries[a.find(from)]
	if x.fatal[run] >= mostEnds {
		return true
	}
	x.noted, x.run = true, run
	a.write()
	return false
}

// End notes that a stretch is not being played any more. One that was played to its end is forgotten.
func (a *Attempts) End(from uint64, whole bool) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	i := a.find(from)
	if whole || a.entries[i].ends == 0 {
		a.entries = slices.Delete(a.entries, i, i+1)
	} else {
		a.entries[i].active, a.entries[i].noted = false, false
	}
	a.write()
}

func (a *Attempts) find(from uint64) int {
	return slices.IndexFunc(a.entries, func(x attempt) bool { return x.from == from })
}

// write replaces the file's content by one call, so that no process that is killed leaves half of it. What is behind it is blank.
func (a *Attempts) write() {
	if a.file == nil && a.failed == nil {
		a.file, a.failed = os.OpenFile(a.name, os.O_RDWR|os.O_CREATE, 0o644)
	}
	if a.failed != nil {
		return
	}
	var b strings.Builder
	for i := range a.entries {
		b.WriteString(a.entries[i].line())
	}
	text := b.String()
	b.WriteString(strings.Repeat("\n", max(a.size-len(text), 0)))
	a.size = len(text)
	_, a.failed = a.file.WriteAt([]byte(b.String()), 0)
}

// Close ends the file. It is kept only if it says something that a later process should know.
func (a *Attempts) Close() error {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	err := a.failed
	if a.file != nil {
		err = errors.Join(err, a.file.Close())
	}
	if len(a.entries) == 0 {
		if problem := os.Remove(a.name); !errors.Is(problem, fs.ErrNotExist) {
			err = errors.Join(err, problem)
		}
	}
	return err
}
