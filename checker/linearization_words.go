package checker

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"

	"github.com/anishathalye/porcupine"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// plain is text that cannot be taken for HTML: porcupine's page shows descriptions of states and details of annotations
// by innerHTML (visualization/index.js, handleMouseMove), those of operations as text. Signs that look like those of
// HTML are right in both.
func plain(text string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == '<':
			return '‹'
		case c == '>':
			return '›'
		case c == '&':
			return '＆'
		case unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c):
			return '·'
		}
		return c
	}, text)
}

func (p *page) describe(o operation) string {
	if o.object == onLock {
		v := &p.held.list[o.input/2]
		if o.input%2 == 0 {
			return v.owner.String() + " takes the lock" + p.token(v.id)
		}
		return v.owner.String() + " leaves"
	}
	s := &p.resource.list[o.input]
	a := p.h.Acquisition(s.id)
	text := owner{a.Client, a.Task}.String() + ":"
	for _, st := range p.resource.steps[s.from:s.to] {
		access := p.resource.access(st.access)
		text += " " + access.Op.String() + p.register(access.Register) + " " + number(access.Version)
	}
	return text
}

func (p *page) token(id history.ID) string {
	if a := p.h.Acquisition(id); a.Token != 0 {
		return ", token " + number(a.Token)
	}
	return ""
}

// register names a register where there are several.
func (p *page) register(r int) string {
	if p.h.Registers > 1 {
		return fmt.Sprintf(" r%d", r)
	}
	return ""
}

func (p *page) describeState(s situation) string {
	if s.object == onLock {
		if k := s.state.(int); k > 0 {
			return "held by " + p.name(p.held.list[k-1].id)
		}
		return "free"
	}
	var parts []string
	for r, version := range p.resource.state(s.state) {
		text := "version " + number(version)
		if version > 1<<63 { // see resourceModel.step
			text = "a version that nobody has seen"
		}
		parts = append(parts, strings.TrimSpace(p.register(r)+" "+text))
	}
	return strings.Join(parts, ", ")
}

// annotations are the faults that happened, what the service granted, and what servers kept for it.
func (p *page) annotations() []porcupine.Annotation {
	var list []porcupine.Annotation
	taken := map[string]trace.Instant{} // by row, until when something stands in it
	add := func(tag, text, details string, from, to trace.Instant, color string) {
		from, to = min(from, p.end), min(to, p.end)
		row := tag
		for n := 2; ; n++ {
			if until, ok := taken[row]; !ok || until < from {
				break
			}
			row = fmt.Sprintf("%s (%d)", tag, n)
		}
		taken[row] = to
		list = append(list, porcupine.Annotation{
			Tag: plain(row), Start: int64(from), End: int64(to), Description: plain(text), Details: plain(details),
			BackgroundColor: color,
		})
	}
	const gray, amber = "#dddddd", "#f6d68b"
	for i := range p.h.Faults {
		if f := &p.h.Faults[i]; f.Fired {
			add("faults", f.Text, f.Name+", from "+f.Begin.String()+" to "+f.End.String(), f.Begin, f.End, amber)
		}
	}
	for i := range p.h.Grants {
		g := &p.h.Grants[i]
		who := p.ownerOf(g.Acquisition, g.Client).String()
		add("granted to "+who, "granted", p.name(g.Acquisition)+" "+p.during(g.From, g.To), g.From, g.To, gray)
	}
	for i := range p.h.Copies[:min(len(p.h.Copies), mostShown)] {
		c := &p.h.Copies[i]
		who := p.ownerOf(c.Acquisition, c.Client).String()
		add(c.Node, who+", "+c.Gone.String(), "of "+p.name(c.Acquisition)+", "+p.during(c.From, c.To), c.From, c.To, gray)
	}
	return list
}

// introduced puts above porcupine's page what it shows, and forbids it to fetch anything.
func introduced(page []byte, found string) ([]byte, error) {
	// The legend stays at the upper edge, whatever is scrolled.
	const style = `<p style="font: 14px sans-serif; margin: 52px 16px 0; max-width: 70em">`
	text := style + "<strong>Porcupine on a history of locksim.</strong> " + plain(found) +
		"The time axis is one of rank: it shows the order of events, not how far they are apart; true times, in nanoseconds, " +
		"stand in what appears beside the pointer.</p>"
	const security = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; ` +
		`style-src 'unsafe-inline'">`
	for _, edit := range []struct{ behind, what string }{{"<head>", security}, {"<body>", text}} {
		if bytes.Count(page, []byte(edit.behind)) != 1 {
			return nil, errOtherPage
		}
		page = bytes.Replace(page, []byte(edit.behind), []byte(edit.behind+"\n"+edit.what), 1)
	}
	return page, nil
}

func joinedWith(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}
