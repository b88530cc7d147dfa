package moments

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/trace"
)

// Unchanged returns the last request for the lock of an acquisition to which nothing was granted, if that wrote what was there already, and
// was answered as any other write is. It is nil if there is none.
func Unchanged(v *model.View, a *history.Acquisition) *model.Sent {
	if a == nil || a.Outcome != history.OK || v.LastGrant(a.ID, a.Returned) != nil {
		return nil
	}
	for i := range slices.Backward(v.Messages) {
		m := &v.Messages[i]
		if m.Reply || m.For != a.ID || m.Purpose != trace.ToAcquire || v.Answered(m) > a.Returned {
			continue
		}
		before := lastWrite(v, m)
		if before == nil || !strings.HasPrefix(v.Messages[m.Answer].Detail, "200 OK") || written(m) != written(before) {
			return nil
		}
		return m
	}
	return nil
}

// lastWrite returns the write of an object that its server executed last before another one; nil if there is none.
func lastWrite(v *model.View, of *model.Sent) (last *model.Sent) {
	for i := range v.Messages {
		m := &v.Messages[i]
		refused := m.Answer >= 0 && !strings.HasPrefix(v.Messages[m.Answer].Detail, "200 OK")
		if m == of || m.Reply || m.To != of.To || !strings.HasPrefix(m.What, plainWrite) || refused || m.Executed > of.Executed {
			continue
		}
		if last == nil || m.Executed >= last.Executed {
			last = m
		}
	}
	return last
}

// written is the object that a request writes, and what it writes there.
func written(m *model.Sent) string {
	name, value, _ := strings.Cut(strings.TrimPrefix(m.Detail, m.What+" "), " ")
	for {
		key, rest, _ := strings.Cut(value, " ")
		if !slices.Contains([]string{"version", "meta", "lease", "etag"}, key) {
			return name + " " + value
		}
		_, value, _ = strings.Cut(rest, " ")
	}
}
