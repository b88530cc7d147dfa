package object

import (
	"slices"
	"time"
)

// past is an object as it was until a moment; without a version it was not there.
type past struct {
	object
	until int64 // by the monotonic clock
}

// mostStale is how old what an eventually consistent read returns is at most, unless the scenario says so: DynamoDB's documentation names
// no bound ("usually one second or less").
const mostStale = time.Second

// remember keeps an object as it is for reads that are eventually consistent.
func (s *Server) remember(o *object) {
	now := s.monotonic()
	gone := func(p past) bool { return p.until < now-int64(max(s.Staleness, mostStale)) }
	s.past = append(slices.DeleteFunc(s.past, gone), past{*o, now})
}

// recall answers an eventually consistent read.
func (s *Server) recall(r *Request, a *Response) {
	if a.Age = s.Staleness; a.Age == 0 && s.node != nil {
		if s.stale == nil {
			s.stale = s.node.Rand("staleness")
		}
		a.Age = time.Duration(s.stale.Int64N(int64(mostStale)))
	}
	o, when := object{name: r.Name}, s.monotonic()-int64(a.Age)
	if i := slices.IndexFunc(s.past, func(p past) bool { return p.name == r.Name && p.until > when }); i >= 0 {
		o = s.past[i].object
	} else if at, there := s.at(r.Name); there {
		o = s.objects[at]
	}
	if a.Result = NotFound; o.version != 0 {
		a.Result, a.Value, a.Version, a.Meta, a.Modified = OK, o.value, o.version, o.meta, o.modified
	}
}
