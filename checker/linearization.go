package checker

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/anishathalye/porcupine"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// Linearization writes porcupine's own page about a history: in which order it can, or cannot, all have happened one
// after another. It shows what porcupine is asked for a verdict: taking the lock and leaving it, and the critical
// sections on the resource. Faults, grants and what servers kept of the lock stand in rows of their own.
//
// Of a history that is too long to be judged by porcupine it shows the part around the first double holder, or the
// first part; sections that porcupine would not judge are left out.
func Linearization(w io.Writer, h *history.History) error {
	if err := h.Valid(); err != nil {
		return err
	}
	p := newPage(h)
	_, info := porcupine.CheckOperationsVerbose(p.model(), p.operations, 0)
	for _, partials := range info.PartialLinearizations() {
		slices.SortFunc(partials, longestFirst) // porcupine gathers them in no order
	}
	info.AddAnnotations(p.annotations())
	var b bytes.Buffer
	if err := porcupine.Visualize(p.model(), info, &b); err != nil {
		return err
	}
	page, err := introduced(b.Bytes(), p.found())
	if err != nil {
		return err
	}
	_, err = w.Write(page)
	return err
}

func longestFirst(a, b []int) int { return cmp.Or(cmp.Compare(len(b), len(a)), slices.Compare(a, b)) }

// The objects that operations are on. Porcupine looks at each by itself.
const (
	onLock = iota
	onResource
	objects
)

// page is what porcupine is asked.
type page struct {
	judge
	rows       []owner // whose operations stand in which row
	resource   resourceModel
	operations []porcupine.Operation
	end        trace.Instant // stands for Never
	left       string        // what is left out; "" if nothing is
}

// operation is the input of an operation on one of the objects.
type operation struct{ object, input int }

// situation is the state of one of the objects.
type situation struct {
	object int
	state  any
}

func newPage(h *history.History) *page {
	p := &page{judge: judge{h: h}, end: h.End + 1}
	p.held = p.beliefs()
	for i := range h.Acquisitions {
		a := &h.Acquisitions[i]
		if o := (owner{a.Client, a.Task}); !slices.Contains(p.rows, o) {
			p.rows = append(p.rows, o)
		}
	}
	p.lockOperations()
	p.resourceOperations()
	return p
}

// mostShown is how many beliefs a page shows: more than that nobody looks through.
const mostShown = 200

func (p *page) lockOperations() {
	list := p.held.list
	if found := p.held.scan(p.h.End, func(_, _ *interval) {}); len(list) > alwaysSections && found.pairs > 0 {
		list = aroundFirst(list, found.first)
	}
	if shown := list[:min(len(list), mostShown)]; len(shown) < len(p.held.list) {
		p.left = fmt.Sprintf("%d of %d beliefs are shown", len(shown), len(p.held.list))
		list = shown
	}
	p.held.list = list
	for i := range list {
		v := &list[i]
		row := slices.Index(p.rows, v.owner)
		p.add(row, operation{onLock, 2 * i}, v.asked, v.from)
		p.add(row, operation{onLock, 2*i + 1}, v.to, v.to)
	}
}

func (p *page) resourceOperations() {
	if p.unjudgeable() != "" {
		return
	}
	s := newSections(p.h, new(room))
	p.resource = resourceModel{sections: s}
	if s.malformed != "" {
		return
	}
	if !p.porcupineOnSections(s, s.judgeByGraph().verdict) {
		p.left = joinedWith(p.left, "the resource's sections are more than porcupine is asked to judge")
		return
	}
	p.resource.versions = make([]uint64, s.registers)
	for i := range s.list {
		a := p.h.Acquisition(s.list[i].id)
		row := len(p.rows) + slices.Index(p.rows, owner{a.Client, a.Task})
		p.add(row, operation{onResource, i}, s.list[i].call, s.list[i].ret)
	}
}

func (p *page) add(row int, input operation, call, returned trace.Instant) {
	p.operations = append(p.operations, porcupine.Operation{
		ClientId: row, Input: input, Call: int64(min(call, p.end)), Return: int64(min(returned, p.end)),
	})
}

// model is that of both objects: what each of them does is what the verdicts rest on, too.
func (p *page) model() porcupine.Model {
	return porcupine.Model{
		Partition: byObject,
		Init:      func() any { return nil },
		Step: func(state, input, _ any) (bool, any) {
			in := input.(operation)
			if in.object == onLock {
				return advance(stepLock, nobody, onLock, state, in.input)
			}
			return advance(p.resource.step, p.resource.initial, onResource, state, in.input)
		},
		Equal: func(a, b any) bool {
			x, y := a.(situation), b.(situation)
			if x.object == onLock {
				return x.state == y.state
			}
			return p.resource.equal(x.state, y.state)
		},
		DescribeOperation: func(input, _ any) string { return plain(p.describe(input.(operation))) },
		DescribeState:     func(state any) string { return plain(p.describeState(state.(situation))) },
	}
}

// found says what came of it.
func (p *page) found() string {
	text := ""
	for _, part := range byObject(p.operations) {
		what := "What was believed"
		if part[0].Input.(operation).object == onResource {
			what = "What the resource accepted"
		}
		can := " can"
		if !porcupine.CheckOperations(p.model(), part) {
			can = " cannot"
		}
		text += what + can + " have happened one after another, in an order that agrees with time. "
	}
	if p.left != "" {
		text += "Not all is shown: " + p.left + ". "
	}
	return text
}

// advance takes a step of one object's own model. The state of an object that nothing has happened to is nil.
func advance(of func(state, input, output any) (bool, any), first func() any, object int, state any, input int) (bool, any) {
	before := first()
	if state != nil {
		before = state.(situation).state
	}
	ok, after := of(before, input, nil)
	return ok, situation{object, after}
}

func byObject(list []porcupine.Operation) [][]porcupine.Operation {
	parts := make([][]porcupine.Operation, objects)
	for _, o := range list {
		k := o.Input.(operation).object
		parts[k] = append(parts[k], o)
	}
	return slices.DeleteFunc(parts, func(part []porcupine.Operation) bool { return len(part) == 0 })
}

var errOtherPage = errors.New("checker: porcupine's page has no longer the form that is known")
