package comparison

import (
	"fmt"
	"strings"

	"github.com/locksim/locksim/internal/search/compare"
)

// title is what the report is called.
func (b *board) title() string {
	if len(b.Locks) == 1 {
		return b.Locks[0].Name + " under faults"
	}
	return plural(len(b.Locks), "distributed lock") + ", side by side"
}

// measured says in a sentence what was measured.
func (b *board) measured() string {
	text := fmt.Sprintf("%s under %s, with %s: %s for each cell. %s", plural(len(b.Locks), "lock"),
		plural(len(b.Faults), "condition"), plural(len(b.Fencing), "fencing mode"), plural(b.Runs, "schedule"), b.brought())
	return strings.TrimSpace(text)
}

// interrupted says so if it was.
func (b *board) interrupted() string {
	if !b.Interrupted {
		return ""
	}
	return "The measurement was interrupted: cells with fewer runs say how many they have."
}

// mode is what became of the resource in a fencing mode, whatever the lock.
type mode struct {
	name                           string
	damaged, safe, unseen, unclear int // locks
}

// modes lists the modes in which there is something to say of the resource.
func (b *board) modes() []mode {
	var list []mode
	for _, fencing := range b.Fencing {
		m := mode{name: fencing}
		for i := range b.Locks {
			t := b.tally(b.Locks[i].Name, fencing, resource)
			switch t.outcome() {
			case compare.Violated:
				m.damaged++
			case compare.Held:
				m.safe++
			case compare.NotSeen:
				m.unseen++
			case compare.Impossible:
			default:
				m.unclear++
			}
		}
		if m.locks() > 0 {
			list = append(list, m)
		}
	}
	return list
}

func (m *mode) locks() int { return m.damaged + m.safe + m.unseen + m.unclear }

func (m *mode) says() string {
	text := fmt.Sprintf("The resource was damaged with %d of %s", m.damaged, plural(m.locks(), "lock"))
	if m.safe > 0 {
		text += fmt.Sprintf("; with %d it was exposed and never damaged", m.safe)
	}
	if m.unseen > 0 {
		text += fmt.Sprintf("; with %d, a program's, it was exposed and not seen damaged", m.unseen)
	}
	if m.unclear > 0 {
		text += fmt.Sprintf("; of %d nothing can be said", m.unclear)
	}
	return text + "."
}

// lede says in a few sentences what was measured, and what came of it.
func (b *board) lede() []string {
	text := []string{b.measured()}
	if b.Interrupted {
		text = append(text, b.interrupted())
	}
	for _, m := range b.modes() {
		text = append(text, "Fencing "+m.name+": "+m.says())
	}
	return text
}
