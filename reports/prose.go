package reports

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/trace"
)

// Bounds of a sentence that is easy to read.
const (
	maxSubjects = 2
	maxClauses  = 3
)

// maxSentences is how many a story has before its ending.
const maxSentences = 4

// prose makes sentences of the beats of a story. What happens at about one moment stands together, and a sentence says
// when that was.
func (t *plot) prose() string {
	slices.SortStableFunc(t.beats, func(a, b beat) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order))
	})
	w := writer{plot: t, met: map[string]bool{}}
	for _, g := range t.gathered() {
		w.add(g)
	}
	w.finish()
	for len(w.sentences) > maxSentences {
		w.join()
	}
	for i, s := range w.sentences {
		w.sentences[i] = capital(s) + "."
	}
	return strings.Join(w.sentences, " ")
}

// group is beats that are told as one: the same on several servers, or of several subjects.
type group struct {
	beat
	nodes []string
	also  []string // other subjects of which the same is to be said
}

// gathered joins neighbours that say the same at about one moment.
func (t *plot) gathered() []group {
	var groups []group
	for _, b := range t.beats {
		if n := len(groups); n > 0 {
			g := &groups[n-1]
			near := g.what == b.what && b.at.Sub(g.at) < t.soon()
			switch {
			case near && g.who == b.who && b.node != "" && len(g.also) == 0:
				g.nodes = append(g.nodes, b.node)
				continue
			case near && g.who != b.who && b.who != "" && g.who != "" && b.node == "":
				g.also = append(g.also, b.who)
				continue
			}
		}
		g := group{beat: b}
		if b.node != "" {
			g.nodes = []string{b.node}
		}
		groups = append(groups, g)
	}
	return groups
}

// clause is what is said of the subject of a group, and of others.
func (g *group) clause() string {
	text := g.what
	if len(g.nodes) > 0 {
		text += " on " + listing(g.nodes)
	}
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
	return text + joint + "so " + verb + " " + listing(g.also)
}

// soon is how long things take that happen at about one moment.
func (t *plot) soon() time.Duration {
	return min(max(t.run.Case.Scenario.Lock.TTL/100, time.Millisecond), 100*time.Millisecond)
}

// client finds the client that a subject begins with: "a" of "a's lease".
func (t *plot) client(who string) (name string, is bool) {
	name, _, _ = strings.Cut(who, "'s ")
	process, _, _ := strings.Cut(name, "/")
	return name, isClient(t.run.Case.Scenario, process)
}

// subject is how a sentence that begins with somebody calls it.
func (t *plot) subject(who string) string {
	switch name, is := t.client(who); {
	case is && strings.Contains(name, "/"):
		return "task " + who
	case is:
		return "client " + who
	}
	if slices.Contains(t.servers().Names(), who) {
		return "server " + who
	}
	return who
}

// writer writes sentences, clause by clause.
type writer struct {
	*plot
	met       map[string]bool // clients that have been introduced
	sentences []string
	when      string // how the sentence at hand begins
	parts     []part
	clauses   int
	said      trace.Instant // the moment that a reader thinks of
}

// part is what a sentence says of one subject.
type part struct {
	who  string
	name string // what the sentence calls it
	what []string
}

func (w *writer) add(b group) {
	same := len(w.parts) > 0 && w.parts[len(w.parts)-1].who == b.who && b.who != "" && len(b.also) == 0
	later := b.at.Sub(w.said) >= w.soon()
	if len(w.parts) > 0 && (w.clauses == maxClauses || !same && (later || len(w.parts) == maxSubjects)) {
		w.finish()
		same = false
	}
	what := b.clause()
	if later {
		w.said = b.at
		if len(w.parts) == 0 {
			w.when = "at " + spokenMoment(b.at) + " "
		} else {
			what = "at " + spokenMoment(b.at) + " " + what
		}
	}
	w.clauses++
	if same {
		last := &w.parts[len(w.parts)-1]
		last.what = append(last.what, what)
		return
	}
	p := part{b.who, w.introduce(b.who), []string{what}}
	if len(b.also) > 0 {
		p.who, w.clauses = "", maxClauses // nothing more can be said of the first of them alone
	}
	w.parts = append(w.parts, p)
}

// introduce names a subject: a client is said to be one where it comes first, and where a sentence begins with it.
func (w *writer) introduce(who string) string {
	begins := len(w.parts) == 0 && w.when == ""
	name, is := w.client(who)
	if is && !w.met[name] {
		w.met[name] = true
		begins = true
	}
	if begins {
		return w.subject(who)
	}
	return who
}

func (w *writer) finish() {
	if len(w.parts) == 0 {
		return
	}
	clauses := make([]string, len(w.parts))
	for i, p := range w.parts {
		clauses[i] = strings.TrimSpace(p.name + " " + predicates(p.what))
	}
	w.sentences = append(w.sentences, w.when+strings.Join(clauses, joint))
	w.when, w.parts, w.clauses = "", nil, 0
}

// predicates joins what is said of one subject.
func predicates(list []string) string {
	last := len(list) - 1
	if last > 1 || last > 0 && strings.HasPrefix(list[last], "at ") {
		return strings.Join(list[:last], ", ") + joint + list[last]
	}
	return strings.Join(list, " and ")
}

// joint stands between the clauses of a sentence that are of different subjects.
const joint = ", and "

// join makes one sentence of the two neighbours that are shortest together.
func (w *writer) join() {
	least, at := 0, -1
	for i := range len(w.sentences) - 1 {
		if n := len(w.sentences[i]) + len(w.sentences[i+1]); at < 0 || n < least {
			least, at = n, i
		}
	}
	between := joint
	if strings.Contains(w.sentences[at]+w.sentences[at+1], joint) {
		between = "; "
	}
	w.sentences[at] += between + w.sentences[at+1]
	w.sentences = slices.Delete(w.sentences, at+1, at+2)
}

// spokenTime prints a time for a reader: to three digits, with a space before its unit.
func spokenTime(d time.Duration) string {
	unit := time.Duration(1)
	for d >= 1000*unit {
		unit *= 10
	}
	return spaced(exact(d.Round(unit)))
}

// spokenMoment is spokenTime of a moment.
func spokenMoment(at trace.Instant) string { return spokenTime(time.Duration(at)) }

// spokenExactly prints a time that somebody chose, and that is what it is because of its last digit.
func spokenExactly(d time.Duration) string { return spaced(precise(d)) }

// spaced puts a space between a number and its unit.
func spaced(text string) string {
	i := strings.LastIndexAny(text, "0123456789") + 1
	return text[:i] + " " + text[i:]
}
