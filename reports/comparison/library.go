package comparison

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/internal/search/compare"
)

// librariesTitle is that of the section that says which libraries were played, and what of them is real.
const librariesTitle = "The libraries"

// libraries says which locks are other people's code, in which version, and what of it is real; nothing if there are none.
func (b *board) libraries() []string {
	var list []string
	for i := range b.Locks {
		if l := &b.Locks[i]; l.Library != "" {
			list = append(list, sentence(l.Name+": "+l.Library))
		}
	}
	if len(list) == 0 {
		return nil
	}
	return append(list,
		"Real is all code of these libraries, of their clients, and of Go's runtime and standard library, compiled to "+
			"WebAssembly without a changed line.",
		"Not real are threads, of which Go's scheduler has one there, so that races between them are not found; randomness, "+
			"that of select and of the order of maps too, which comes from the run's seed; clocks, and the time that code "+
			"takes, which is none; connections and servers, which are simulated.",
	)
}

// programs reports whether some locks are those of programs of the operating system.
func (b *board) programs() bool {
	return slices.ContainsFunc(b.Locks, func(l compare.Lock) bool { return l.Program })
}

// brought says how many of the locks are libraries; "" if none is.
func (b *board) brought() string {
	n := 0
	for i := range b.Locks {
		if b.Locks[i].Library != "" {
			n++
		}
	}
	switch {
	case n == 0:
		return ""
	case n == len(b.Locks):
		return "All are libraries, played as they are."
	case n == 1:
		return "One of them is a library, played as it is."
	}
	return fmt.Sprintf("%s of them are libraries, played as they are.", count(n))
}
