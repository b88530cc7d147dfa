package reports

import (
	"fmt"
	"strconv"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

func (a *argument) lostUpdate(first, second *history.Acquisition) proof {
	over := a.access(second.ID, history.Write, -1, a.until)
	if over == nil {
		return proof{}
	}
	under := a.access(first.ID, history.Write, over.Register, a.until)
	mine := a.access(first.ID, history.Read, over.Register, a.until)
	theirs := a.access(second.ID, history.Read, over.Register, a.until)
	if under == nil || mine == nil || theirs == nil || mine.Version != theirs.Version {
		return proof{}
	}
	one, two := a.who(first), a.who(second)
	reads := fmt.Sprintf("%s reads it at %s, %s at %s", one, a.effect(mine), two, a.effect(theirs))
	if theirs.Applied < mine.Applied {
		reads = fmt.Sprintf("%s reads it at %s, %s at %s", two, a.effect(theirs), one, a.effect(mine))
	}
	return proof{
		claim: fmt.Sprintf("%s overwrites at %s what %s wrote at %s, without having read it", two, a.effect(over), one,
			a.effect(under)),
		let:  fmt.Sprintf("version %d%s be what both go by: %s", a.version(mine), a.ofRegister(over), reads),
		then: fmt.Sprintf("%s writes at %s", one, a.effect(under)),
		however: fmt.Sprintf("%s still writes at %s what it has computed from version %d, and it is accepted%s", two,
			a.effect(over), a.version(theirs), a.taking(under, over)),
	}
}

// seenHalf proves that somebody has seen a section of which only a part is done.
func (a *argument) seenHalf(writer, reader *history.Acquisition) proof {
	var writes, reads []string
	for i := range a.h.Accesses {
		x := &a.h.Accesses[i]
		register := "register " + strconv.Itoa(x.Register)
		isWrite := x.Acquisition == writer.ID && x.Op == history.Write
		switch {
		case isWrite && x.Applied == trace.Never && a.underway(x):
			writes = append(writes, register+" too, which is on its way when the run ends")
		case isWrite && x.Applied == trace.Never:
			writes = append(writes, register+" too, which never arrives")
		case isWrite && !x.Accepted:
			writes = append(writes, fmt.Sprintf("%s at %s, where it is refused", register, a.effect(x)))
		case isWrite:
			writes = append(writes, fmt.Sprintf("%s at %s", register, a.effect(x)))
		case x.Acquisition == reader.ID && x.Op == history.Read && x.Accepted:
			reads = append(reads, fmt.Sprintf("version %d of %s at %s", a.version(x), register, a.effect(x)))
		}
	}
	if len(writes) < 2 {
		return proof{}
	}
	return proof{
		claim:   fmt.Sprintf("%s sees one half of a section of %s", a.who(reader), a.who(writer)),
		let:     fmt.Sprintf("one section of %s write %s", a.who(writer), clauses(writes)),
		then:    fmt.Sprintf("%s reads %s", a.who(reader), listing(reads)),
		however: "that is one half of the section without the other",
	}
}
