package comparison

import (
	"strings"

	"github.com/locksim/locksim/internal/search/compare"
)

// fact is a column of what is known of each lock, and of what it costs.
type fact struct {
	head   head
	glance bool // it is worth a column beside the verdicts
	of     func(*compare.Lock) entry
}

// number makes the head of a column of numbers, words that of one of words.
func number(text, note string) head { return head{text: text, note: note, right: true} }
func words(text, note string) head  { return head{text: text, note: note} }

// facts are all of them.
var facts = []fact{
	{number("acquire p50", "acquiring a free lock: the median"), true,
		func(l *compare.Lock) entry { return quantile(l.Latency, l.Latency.P50) }},
	{number("p99", "acquiring a free lock: the slowest one in a hundred"), false,
		func(l *compare.Lock) entry { return quantile(l.Latency, l.Latency.P99) }},
	{number("messages", "that the lock sends and gets for one section"), true,
		func(l *compare.Lock) entry { return said(thousandths(l.Messages)) }},
	{number("round trips", "one after another, until a free lock is acquired"), false,
		func(l *compare.Lock) entry { return said(thousandths(l.RoundTrips)) }},
	{number("after a crash p50", "from the death of a holder until the next one holds: the median"), true,
		func(l *compare.Lock) entry { return takeover(l.AfterCrash, l.NeverAfter) }},
	{number("p99", "from the death of a holder until the next one holds: the slowest one in a hundred"), false,
		func(l *compare.Lock) entry { return quantile(l.AfterCrash, l.AfterCrash.P99) }},
	{number("after power loss p50", "the same if its machine dies, whose connections nobody closes"), false,
		func(l *compare.Lock) entry { return takeover(l.AfterPowerLoss, l.NeverAfterPowerLoss) }},
	{number("sections/s", "under contention, sections that read and write once, in virtual time"), false,
		func(l *compare.Lock) entry {
			return noted(threeDigits(l.Throughput), plural(l.Contenders, "contender"))
		}},
	{number("fairness", "Jain's index of the contenders' sections: 1 if all have as many"), false,
		func(l *compare.Lock) entry { return said(threeDigits(l.Fairness)) }},
	{number("longest wait", "under contention"), false,
		func(l *compare.Lock) entry { return said(duration(l.LongestWait)) }},
	{words("token", "what it hands out as fencing token"), true,
		func(l *compare.Lock) entry { return said(orDash(l.Token)) }},
	{words("lasts", "a holder that works for longer than the lease keeps it, if nothing goes wrong"), false,
		func(l *compare.Lock) entry { return yes(l.Lasts) }},
	{words("reentrant", "a holder can acquire it again"), false,
		func(l *compare.Lock) entry { return yes(l.Reentrant) }},
	{words("try", "it can be asked for without waiting"), false,
		func(l *compare.Lock) entry { return yes(l.Try) }},
	{words("guard", "its servers can keep the protected data, too, and take a write with the proof of the lock"), false,
		func(l *compare.Lock) entry { return yes(l.Guard) }},
	{words("needs", "what it relies on"), false,
		func(l *compare.Lock) entry { return said(orDash(strings.Join(l.Needs, "; "))) }},
}

// costs is the table of what is known of each lock.
func (b *board) costs() table {
	t := table{
		id: "costs", title: "What each lock costs and needs", corner: "lock",
		notes: []string{
			"Times are virtual: they hang on the network below, compare locks with each other, and are not to be " +
				"held against those of a real deployment.",
		},
	}
	if b.Network != "" {
		t.notes = append(t.notes, "The network: "+sentence(b.Network))
	}
	for _, f := range facts {
		t.heads = append(t.heads, f.head)
	}
	for i := range b.Locks {
		lock := &b.Locks[i]
		r := row{head: lock.Name, note: lock.Summary, servers: lock.Servers}
		for _, f := range facts {
			r.entries = append(r.entries, f.of(lock))
		}
		t.rows = append(t.rows, r)
	}
	return t
}

func quantile(q compare.Quantiles, ns int64) entry {
	if q.Count == 0 {
		return said("–")
	}
	return noted(duration(ns), "of "+count(q.Count))
}

// takeover says also in how many runs nobody ever held again, since no quantile does.
func takeover(q compare.Quantiles, never int) entry {
	e := quantile(q, q.P50)
	switch {
	case q.Count == 0 && never > 0:
		e = noted("never", "in "+plural(never, "run"))
	case never > 0:
		e.small = "never: " + count(never)
	}
	return e
}

func yes(is bool) entry {
	if is {
		return said("yes")
	}
	return said("–")
}

func orDash(text string) string {
	if text == "" {
		return "–"
	}
	return text
}
