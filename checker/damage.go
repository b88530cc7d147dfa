package checker

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// This file puts into words what is wrong with a resource that was found to be damaged.

const (
	lostUpdate  = "lost update"
	tornSection = "torn section"
)

// damage tells of one resource.
type damage struct {
	*judge
	*sections
}

func (j *judge) tellDamage(s *sections, found judgement) {
	d := damage{j, s}
	before := j.told[Resource]
	var lost [][2]int // pairs told already, for another register
	for _, c := range found.conflicts {
		pair := [2]int{c.first, c.second}
		switch torn := d.unwritten(c); {
		case torn != none:
			d.tellHalf(torn)
		case !slices.Contains(lost, pair):
			lost = append(lost, pair)
			d.tellLost(c)
		}
	}
	for k := range s.list {
		if at := s.list[k].unrepeated; at != none {
			d.tellUnrepeated(k, at)
		}
	}
	if at := s.sawOverwritten(); at != none {
		d.tellOverwritten(at)
	}
	if j.told[Resource] == before {
		d.tellStuck(found.stuck)
	}
}

func (d *damage) tell(kind string, at trace.Instant, text string, sections ...int) {
	ids := make([]history.ID, len(sections))
	for i, k := range sections {
		ids[i] = d.list[k].id
	}
	v := Violation{Property: Resource, Kind: kind, At: at, Acquisitions: ids, Text: text}
	v.blame(d.breachOfEffect(&v))
	d.accuse(v)
}

func (d *damage) nameOf(section int) string { return d.name(d.list[section].id) }

// unwritten returns the one of two conflicting sections whose write of the register is missing; none if neither's is.
func (d *damage) unwritten(c conflict) int {
	for _, k := range []int{c.first, c.second} {
		if d.cell(k, c.register).wrote == none {
			return k
		}
	}
	return none
}

// writeOf returns the write that a section left in a register.
func (d *damage) writeOf(section, register int) *history.Access {
	return d.access(d.versions[d.cell(section, register).wrote].access)
}

// readOf returns the first read of a register in a section.
func (d *damage) readOf(section, register int) *history.Access {
	for _, st := range d.steps[d.list[section].from:d.list[section].to] {
		if a := d.access(st.access); a.Op == history.Read && a.Register == register {
			return a
		}
	}
	panic("checker: a section is said to have read a register that it did not read")
}

func (d *damage) tellLost(c conflict) {
	first, second := c.first, c.second
	if d.writeOf(second, c.register).Applied < d.writeOf(first, c.register).Applied {
		first, second = second, first
	}
	under, over := d.writeOf(first, c.register), d.writeOf(second, c.register)
	text := d.nameOf(first) + " and " + d.nameOf(second) + " both read version " +
		number(d.readOf(first, c.register).Version) + " of register " + strconv.Itoa(c.register) +
		"; the first wrote version " + number(under.Version) + " at " + under.Applied.String() + d.mistake(under) +
		", the second, not knowing it, version " + number(over.Version) + " at " + over.Applied.String() + d.mistake(over)
	d.tell(lostUpdate, over.Applied, text, first, second)
}

// mistake says what an application did wrong with a write, as far as tokens are concerned. A log may not state all of them.
func (d *damage) mistake(write *history.Access) string {
	h := d.judge.h
	switch {
	case h.Logged:
	case h.Passed(write):
		return " (after its Unlock)"
	case h.Tokenless(write) && h.Fencing.NeedsToken():
		return " (without its token)"
	}
	return ""
}

// tellHalf tells of a section of which only a part was applied, and who saw it.
func (d *damage) tellHalf(torn int) {
	for i, st := range d.steps {
		read := d.access(st.access)
		c := d.cell(torn, read.Register)
		if st.section == torn || read.Op != history.Read || c.wrote == none || read.Version != d.versions[c.wrote].number {
			continue
		}
		text := fmt.Sprintf("%s wrote %s, but not %s; %s saw the half at %s", d.nameOf(torn),
			d.registersWhere(torn, func(c *cell) bool { return c.wrote != none }),
			d.registersWhere(torn, func(c *cell) bool { return c.meant && c.wrote == none }),
			d.nameOf(d.steps[i].section), read.Applied)
		d.tell(tornSection, read.Applied, text, torn, st.section)
		return
	}
}

func (d *damage) registersWhere(section int, is func(*cell) bool) string {
	var names []string
	for r := range d.registers {
		if is(d.cell(section, r)) {
			names = append(names, fmt.Sprintf("register %d", r))
		}
	}
	return strings.Join(names, " and ")
}

func (d *damage) tellUnrepeated(section, at int) {
	a := d.access(d.steps[at].access)
	text := fmt.Sprintf("%s found version %d of register %d at %s, which is not what it had read or written before",
		d.nameOf(section), a.Version, a.Register, a.Applied)
	d.tell(tornSection, a.Applied, text, section)
}

func (d *damage) tellOverwritten(at int) {
	a := d.access(d.steps[at].access)
	v, _ := slices.BinarySearchFunc(d.versions, version{register: a.Register, number: a.Version}, compareVersions)
	text := fmt.Sprintf("%s saw version %d of register %d, which %s had not finished with",
		d.nameOf(d.steps[at].section), a.Version, a.Register, d.nameOf(d.versions[v].section))
	d.tell(tornSection, a.Applied, text, d.versions[v].section, d.steps[at].section)
}

// tellStuck looks among the sections without a place for one that saw a part of another one and missed a part.
func (d *damage) tellStuck(stuck []int) {
	for _, k := range stuck {
		for saw := range d.registers {
			read := d.cell(k, saw).read
			if read == none || d.versions[read].section == none || d.versions[read].section == k {
				continue
			}
			torn := d.versions[read].section
			if missed := d.missed(k, torn); missed != none {
				d.tellTorn(torn, k, saw, missed)
				return
			}
		}
	}
	at, names := trace.Instant(0), make([]string, len(stuck))
	for i, k := range stuck {
		names[i] = d.nameOf(k)
		at = max(at, d.access(d.steps[d.list[k].to-1].access).Applied)
	}
	d.tell(tornSection, at, "in no order can what these read and wrote be explained: "+strings.Join(names, ", "),
		stuck...)
}

// missed returns a register that a section read as it was before another section meant to write it; none if there is
// no such register.
func (d *damage) missed(reader, writer int) int {
	for r := range d.registers {
		mine, theirs := d.cell(reader, r), d.cell(writer, r)
		if mine.read == none || !theirs.meant {
			continue
		}
		if mine.read == theirs.read && mine.read != theirs.wrote {
			return r
		}
	}
	return none
}

func (d *damage) tellTorn(torn, reader, saw, missed int) {
	if d.cell(torn, missed).wrote == none {
		d.tellHalf(torn)
		return
	}
	first, second := d.readOf(reader, saw), d.readOf(reader, missed)
	text := fmt.Sprintf("%s saw what %s had written to register %d (version %d), but register %d as it was before "+
		"(version %d)", d.nameOf(reader), d.nameOf(torn), saw, first.Version, missed, second.Version)
	d.tell(tornSection, max(first.Applied, second.Applied), text, torn, reader)
}
