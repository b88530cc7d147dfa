package compare

import (
	"fmt"

	"github.com/locksim/locksim/locks"
)

// frame begins the comparison with what is known before anything is played.
func (c *comparer) frame() {
	p := &c.plan
	out := &Comparison{
		Schema: Schema, Runs: p.Draws.Count, First: p.Draws.First, Confidence: p.Confidence, Style: p.Style.String(),
		Network: "one way 0.1 to 10 ms, half of all messages at most 0.3 ms, 99 in 100 at most 5 ms (lan); servers answer at once",
		Profile: profile(), Advice: []Advice{}, Cells: []Cell{}, Locks: []Lock{},
	}
	for _, col := range c.columns {
		if !col.guarded {
			out.Faults, out.Meanings = append(out.Faults, col.name), append(out.Meanings, col.meaning)
		}
	}
	for _, mode := range p.Fencing {
		out.Fencing = append(out.Fencing, mode.String())
	}
	for i := range p.Locks {
		l, f := &p.Locks[i], &c.facts[i]
		out.Locks = append(out.Locks, Lock{
			Name: l.Name, Servers: l.Backend(), Summary: l.Line(), Status: l.Status.String(), Library: libraryOf(l), Program: l.Varies(), Token: tokenOf(l), Lasts: f.lasts, Reentrant: f.reentrant,
			Try: f.try, Guard: l.Guard, Needs: []string{},
		})
	}
	c.out.Comparison = out
}

// libraryOf says which modules' code a program brings; "" of plain code of ours.
func libraryOf(lock *locks.Algorithm) string {
	if !isProgram(*lock) || lock.Varies() {
		return ""
	}
	return lock.Source
}

// profile says what rates hang on.
func profile() []string {
	return []string{
		"A rate is a share of drawn schedules, not of time: faults strike where they are likely to hurt, far more often than " +
			"in production. Compare rates with each other.",
		"A schedule has two or three clients that take the lock once or twice each, read a value, work, and write it; " +
			"a lease lives for one of the times that are usual for its servers, 1 s to 12 s.",
		"One value is protected: that no fence makes a section of several writes atomic is another matter (locksim run torn-section).",
		"It has up to three faults of the column's kind, up to five where a majority has to be undone; one schedule in four has " +
			"none. Most hang on steps of the protocol, and last for a telling time: just shorter or longer than the lease.",
		"Servers come in ones, or as the lock needs them: two, three or five independent masters, a master with up to two " +
			"replicas, Sentinels or a cluster where failing over can matter, an ensemble of three.",
		fmt.Sprintf("Work is done before the lease ends, unless the lock prolongs it; work that outlasts it is the column %q.",
			overruns),
		"Locks whose cells have the same number of schedules met the same ones: the same clients, times and faults.",
	}
}
