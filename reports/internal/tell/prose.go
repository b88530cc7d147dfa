package tell

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/moments"
	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/trace"
)

// Bounds of an explanation that is easy to read.
const (
	maxSubjects  = 2 // in a sentence
	maxClauses   = 3 // likewise
	maxSentences = 5
)

// prose makes sentences of the clauses, in the order of the trace.
func (t *narrator) prose() string {
	slices.SortStableFunc(t.clauses, func(a, b clause) int { return a.compare(&b) })
	w := writer{t: t}
	for _, g := range t.gathered() {
		w.add(&g)
	}
	w.finish()
	return t.byValue(t.sentences(fit(w.sentences, cmp.Or(t.room, maxSentences))))
}

// byValue calls requests of a database of documents what they are, if all of their conditions are what a document's value was.
func (t *narrator) byValue(text string) string {
	ofVersion := func(m model.Sent) bool {
		return strings.HasSuffix(m.What, "-if-version") && !m.Reply && !strings.Contains(m.Detail, " etag ")
	}
	if t.v.Servers().Entry() != "document" || slices.ContainsFunc(t.v.Messages, ofVersion) {
		return text
	}
	return strings.ReplaceAll(text, "-if-version", "-if-value")
}

// sentences writes sentences one after another.
func (t *narrator) sentences(list []string) string {
	var text strings.Builder
	for _, s := range list {
		s = strings.TrimSuffix(strings.ReplaceAll(s, ",,", ","), ",")
		if !t.beginsWithName(s) {
			s = wording.Capital(s)
		}
		text.WriteString(" " + s + ".")
	}
	return strings.TrimSpace(text.String())
}

// group is clauses that are told as one: the same on several servers, or of several subjects.
type group struct {
	clause
	nodes []string
	also  []string // other subjects of which the same is to be said
}

// gathered joins neighbours that say the same at about one moment.
func (t *narrator) gathered() []group {
	var groups []group
	for _, c := range t.clauses {
		if n := len(groups); n > 0 {
			g := &groups[n-1]
			near := g.what == c.what && c.at.Sub(g.at) < t.soon() && g.comes == ""
			switch {
			case near && g.who == c.who && c.node != "" && len(g.also) == 0:
				g.nodes, g.comes = append(g.nodes, c.node), c.comes
				continue
			case near && g.who != c.who && c.who != "" && g.who != "" && c.node == "":
				g.also, g.comes = append(g.also, c.who), c.comes
				continue
			}
		}
		g := group{clause: c}
		if c.node != "" {
			g.nodes = []string{c.node}
		}
		groups = append(groups, g)
	}
	return groups
}

// text is what is said of the subject of a group, and of others, at a moment.
func (g *group) text(moment string) string {
	text := g.what
	if len(g.nodes) > 0 {
		text += " on " + wording.Listing(g.nodes)
	}
	if !strings.Contains(text, here) {
		text += here
	}
	text = strings.Replace(text, here, moment, 1)
	if len(g.also) == 0 {
		return text
	}
	verb := "does"
	is := strings.HasPrefix(g.what, "is ")
	switch {
	case is && len(g.also) == 1:
		verb = "is"
	case is:
		verb = "are"
	case len(g.also) > 1:
		verb = "do"
	}
	return text + joint + "so " + verb + " " + wording.Listing(g.also)
}

// soon is how long things take that happen at about one moment.
func (t *narrator) soon() time.Duration {
	return min(max(t.v.Run.Case.Scenario.Lock.TTL/100, time.Millisecond), 100*time.Millisecond)
}

// writer writes sentences, clause by clause.
type writer struct {
	t         *narrator
	sentences []string // without their full stops
	parts     []part   // of the sentence at hand
	clauses   int      // likewise
	subject   string   // of the clause before
	said      trace.Instant
}

// beginsWithName reports whether a sentence begins with the name of a client or a server, which is written as it is.
func (t *narrator) beginsWithName(sentence string) bool {
	first, _, _ := strings.Cut(sentence, " ")
	first, _, _ = strings.Cut(strings.TrimSuffix(strings.TrimSuffix(first, ","), "'s"), "/")
	return model.IsClient(t.v.Run.Case.Scenario, first) || slices.Contains(t.v.Servers().Names(), first)
}

// part is what a sentence says of one subject.
type part struct {
	who  string
	name string // what the sentence calls it
	what []string
}

func (w *writer) add(g *group) {
	same := len(w.parts) > 0 && w.parts[len(w.parts)-1].who == g.who && g.who != "" && len(g.also) == 0
	later := g.at.Sub(w.said) >= w.t.soon()
	full := w.clauses == maxClauses || g.silent || len(g.also) > 0 || !same && (len(w.parts) == maxSubjects || later && w.clauses > 1)
	if full && len(w.parts) > 0 {
		w.finish()
		same = false
	}
	if w.say(g, g.text(w.moment(g, later)), same); g.comes != "" {
		w.finish()
		last := &w.sentences[len(w.sentences)-1]
		if !strings.HasPrefix(g.comes, " ") {
			*last = strings.TrimSuffix(*last, ",")
		}
		*last += g.comes
	}
}

// say adds what is said of a subject, which may be the one of the clause before.
func (w *writer) say(g *group, what string, same bool) {
	w.clauses++
	if same {
		last := &w.parts[len(w.parts)-1]
		last.what = append(last.what, what)
		return
	}
	p := part{g.who, g.who, []string{what}}
	if own, is := strings.CutPrefix(g.who, w.subject+"'s "); is && w.subject != "" {
		p.name = "its " + own
	}
	w.subject = g.who
	if len(g.also) > 0 {
		w.clauses = maxClauses // nothing more can be said of the first of them alone
	}
	w.parts = append(w.parts, p)
}

// moment says when something happens: by the number of its moment, or if it has none by its time, unless what was said
// last happened at about that time.
func (w *writer) moment(g *group, later bool) string {
	if g.silent {
		return ""
	}
	if g.place != (moments.Place{}) {
		if m := w.t.find(g.at, g.place); m != nil && m.Number > 0 {
			w.said = g.at
			return " at " + w.t.g.Number(m.Number)
		}
	}
	if !later {
		return ""
	}
	w.said = g.at
	return " at " + w.t.ref(g.at, moments.Place{})
}

func (w *writer) finish() {
	if len(w.parts) == 0 {
		return
	}
	list := make([]string, len(w.parts))
	for i, p := range w.parts {
		list[i] = strings.TrimSpace(p.name + " " + predicates(p.what))
	}
	w.sentences = append(w.sentences, strings.Join(list, joint))
	w.parts, w.clauses = nil, 0
}

// predicates joins what is said of one subject.
func predicates(list []string) string {
	last := len(list) - 1
	if last > 1 || last == 1 && (strings.Contains(list[0], ", since ") || strings.Contains(list[0], ", which ")) {
		return strings.Join(list[:last], ", ") + joint + list[last]
	}
	return strings.Join(list, " and ")
}

// joint stands between the clauses of a sentence that are of different subjects.
const joint = ", and "

// fit makes one sentence of the two neighbours that are shortest together, until there are no more than so many.
func fit(sentences []string, room int) []string {
	for len(sentences) > max(room, 1) {
		least, at := 0, -1
		for i := range len(sentences) - 1 {
			if n := len(sentences[i]) + len(sentences[i+1]); at < 0 || n < least {
				least, at = n, i
			}
		}
		sentences[at] = strings.TrimSuffix(sentences[at], ",") + "; " + sentences[at+1]
		sentences = slices.Delete(sentences, at+1, at+2)
	}
	return sentences
}

// spokenTime prints a time for a reader: to three digits, with a space before its unit.
func spokenTime(d time.Duration) string {
	unit := time.Duration(1)
	for unit <= d/1000 {
		unit *= 10
	}
	return spaced(wording.Exact(d.Round(unit)))
}

// spokenMoment is spokenTime of a moment.
func spokenMoment(at trace.Instant) string { return spokenTime(time.Duration(at)) }

// spokenExactly prints a time that somebody chose, and that is what it is because of its last digit.
func spokenExactly(d time.Duration) string { return spaced(wording.Precise(d)) }

// spaced puts a space between a number and its unit, if there is one unit.
func spaced(text string) string {
	i := strings.LastIndexAny(text, "0123456789") + 1
	if strings.ContainsAny(text[:i], "hm") {
		return text
	}
	return text[:i] + " " + text[i:]
}
