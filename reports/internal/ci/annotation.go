package ci

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/locksim/locksim/reports/internal/wording"
)

// annotationsShown is how many annotations of one kind GitHub shows of a step (its documentation of workflow commands).
const annotationsShown = 10

// Annotation is a message that GitHub shows at a place in a file.
type Annotation struct {
	Kind    string // error, warning or notice
	File    string // "" if it is of none
	Line    int
	Title   string
	Message string // may have several lines
}

// GitHubLog writes annotations as workflow commands, and text below them of which nothing is taken for a command. If there
// are more annotations of a kind than GitHub shows, the last one says so.
func GitHubLog(w io.Writer, list []Annotation, text string) error {
	var b strings.Builder
	annotate(&b, list)
	_, err := io.WriteString(w, b.String()+harmless(text))
	return err
}

func annotate(b *strings.Builder, list []Annotation) {
	of, written := map[string]int{}, map[string]int{}
	for i := range list {
		of[list[i].Kind]++
	}
	for i := range list {
		a := &list[i]
		written[a.Kind]++
		switch n := written[a.Kind]; {
		case n < annotationsShown || n == of[a.Kind] && n == annotationsShown:
			a.command(b)
		case n == annotationsShown:
			more := Annotation{Kind: a.Kind, Message: fmt.Sprintf("%d more, which the summary lists", of[a.Kind]-n+1)}
			more.command(b)
		}
	}
}

// command writes an annotation as a workflow command.
func (a *Annotation) command(b *strings.Builder) {
	var properties []string
	add := func(name, value string) {
		if value != "" {
			properties = append(properties, name+"="+inProperty.Replace(wording.Visible(value)))
		}
	}
	add("file", a.File)
	if a.File != "" && a.Line > 0 {
		add("line", strconv.Itoa(a.Line))
	}
	add("title", a.Title)
	text := "::" + a.Kind
	if len(properties) > 0 {
		text += " " + strings.Join(properties, ",")
	}
	b.WriteString(text + "::" + inMessage.Replace(a.Message) + "\n")
}

// What workflow commands want escaped (escapeData and escapeProperty of @actions/core, in its command.ts).
var (
	inMessage  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	inProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// harmless is text that the runner takes for no command: of the newer form, which begins a line, or of the older one,
// which may stand anywhere (TryParseV2 and TryParse in the runner's ActionCommand.cs).
func harmless(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.ReplaceAll(line, "##[", "## [")
		if rest := strings.TrimLeft(line, " \t"); strings.HasPrefix(rest, "::") {
			line = line[:len(line)-len(rest)] + ": " + rest[1:]
		}
		b.WriteString(line)
	}
	return b.String()
}
