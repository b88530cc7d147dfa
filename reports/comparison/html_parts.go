package comparison

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/internal/search/compare"
)

// pageMode shows what became of the resource in a fencing mode: a bar with a piece for each lock, and words.
type pageMode struct {
	Name, Note, Says string
	Bar              []string
}

func (m *mode) page() pageMode {
	k := pageMode{Name: m.name, Note: fencingText(m.name), Says: m.says()}
	for _, part := range []struct {
		class string
		n     int
	}{{"red", m.damaged}, {"green", m.safe}, {"grey", m.unclear}} {
		k.Bar = append(k.Bar, slices.Repeat([]string{part.class}, part.n)...)
	}
	return k
}

// pageAdvice is a question of the decision table.
type pageAdvice struct {
	Question, Answer string
	Locks            []pageName
	Because          []string
}

type pageName struct{ Name, Link string }

func (p *page) advice(a *compare.Advice) pageAdvice {
	k := pageAdvice{Question: a.Question, Answer: a.Answer, Because: a.Because}
	for _, name := range a.Locks {
		k.Locks = append(k.Locks, pageName{name, p.lockLink(name)})
	}
	return k
}

// pageKey explains a sign or a shade.
type pageKey struct{ Glyph, Text, Class string }

func legend() []pageKey {
	return []pageKey{
		{"✗", "the resource was damaged", reds[3].wash.Class},
		{"✗", "another promise was broken, as by two holders", ambers[3].wash.Class},
		{"✓", "exposed, never violated: below this bound", string(green)},
		{"◐", "exposed in too few runs: says little", string(grey)},
		{"○", "never exposed: says nothing", string(grey)},
		{"?", "undecided", string(grey)},
		{"–", "impossible", "none"},
		{"*", "happens without any fault, too", "none"},
	}
}

func rampKeys() []pageKey {
	var list []pageKey
	for i := range ramp {
		list = append(list, pageKey{Text: ramp[i].text, Class: reds[i].wash.Class})
	}
	return list
}

// pageLock is all that is known of a lock's cells.
type pageLock struct {
	ID, Name, Servers, Summary string
	Impossible                 []pageText
	Cells                      []pageCell
	Examples                   []pageExample
}

type pageText struct{ ID, Text string }

type pageCell struct {
	ID, Faults, Fencing, Property, Tone, Glyph, Word, Statement, Kind, Command, Example string
	File                                                                                pageName // the first of its counterexample
}

type pageExample struct {
	ID, Name string
	Tells    []string
	Files    []pageName // where they are
}

func (p *page) addLocks() {
	for i := range p.b.Locks {
		lock := &p.b.Locks[i]
		k := pageLock{ID: p.lockID(lock.Name), Name: lock.Name, Servers: lock.Servers, Summary: lock.Summary}
		p.addCells(&k)
		p.Locks = append(p.Locks, k)
	}
}

func (p *page) addCells(k *pageLock) {
	impossible := make(map[string][]string) // cells, by why
	var reasons []pageText
	for i := range p.b.Cells {
		c := &p.b.Cells[i]
		if c.Lock != k.Name {
			continue
		}
		if c.Outcome == compare.Impossible {
			if impossible[c.Why] == nil {
				reasons = append(reasons, pageText{p.cellID(c), c.Why})
			}
			if name := c.Faults + ", fencing " + c.Fencing; !slices.Contains(impossible[c.Why], name) {
				impossible[c.Why] = append(impossible[c.Why], name)
			}
			continue
		}
		sign := signOf(c)
		cell := pageCell{
			ID: p.cellID(c), Faults: c.Faults, Fencing: c.Fencing, Property: c.Property,
			Tone: string(sign.tone), Glyph: sign.glyph, Word: sign.word, Statement: statement(c),
			Kind: c.Kind, Command: c.Command, Example: p.example(k, c.Example),
		}
		if files := p.files(c.Example); len(files) > 0 {
			cell.File = files[0]
		}
		k.Cells = append(k.Cells, cell)
	}
	for _, r := range reasons {
		r.Text = sentence(fmt.Sprintf("Impossible, since %s: %s", r.Text, strings.Join(impossible[r.Text], "; ")))
		k.Impossible = append(k.Impossible, r)
	}
}

// example returns where the page shows a counterexample, and makes sure that it does.
func (p *page) example(k *pageLock, e *compare.Example) string {
	if e == nil {
		return ""
	}
	for i := range k.Examples {
		if k.Examples[i].Name == e.Name {
			return k.Examples[i].ID
		}
	}
	x := pageExample{
		ID: fmt.Sprintf("%s-example-%d", k.ID, len(k.Examples)), Name: e.Name, Tells: tells(e), Files: p.files(e),
	}
	k.Examples = append(k.Examples, x)
	return x.ID
}

// files are those that there are of a counterexample.
func (p *page) files(e *compare.Example) []pageName {
	var list []pageName
	for _, f := range exampleFiles {
		if link := p.links.example(e, f.ending); link != "" {
			list = append(list, pageName{f.page, link})
		}
	}
	return list
}
