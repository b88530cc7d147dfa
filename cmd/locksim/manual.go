package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// manual is what there is to know of a command: read from its help and from the flags that it declares, so that completion, manual pages
// and JSON cannot say anything else.
type manual struct {
	Name     string       `json:"name"`
	Summary  string       `json:"summary"`
	Synopsis []string     `json:"synopsis"`
	Flags    []flagManual `json:"flags"`

	before, after []string // the paragraphs around the flags, as they stand in the help
}

// flagManual is what there is to know of a flag.
type flagManual struct {
	Name     string   `json:"name"`               // with its dashes
	Argument string   `json:"argument,omitempty"` // "" if it takes none
	Help     string   `json:"help"`
	Values   []string `json:"values,omitempty"` // if they are words of a list
	Several  bool     `json:"several,omitempty"`

	heading string   // that stands above it
	lines   []string // of the help
}

// flagLine is the first line of a flag's help; a line may be about several.
var flagLine = regexp.MustCompile(`^  (-\S+(?: [^\s,]+(?:, *…)?)?(?:, -\S+(?: [^\s,]+)?)*)  +(\S.*)$`)

// manualOf reads a command's help.
func manualOf(cmd *command) *manual {
	m := &manual{Name: cmd.name, Summary: cmd.summary, Flags: []flagManual{}}
	declared := cmd.declared()
	text := cmd.usage
	head, text, _ := strings.Cut(text, "\n\n")
	for line := range strings.Lines(head) {
		m.Synopsis = append(m.Synopsis, strings.TrimSpace(strings.TrimPrefix(line, "usage:")))
	}
	for _, paragraph := range strings.Split(strings.Trim(text, "\n"), "\n\n") {
		switch {
		case m.readFlags(strings.Split(paragraph, "\n"), declared):
		case len(m.Flags) == 0 && paragraph != "":
			m.before = append(m.before, paragraph)
		case paragraph != "":
			m.after = append(m.after, paragraph)
		}
	}
	return m
}

// readFlags reads a paragraph that lists flags; false if this is none.
func (m *manual) readFlags(lines []string, declared *flag.FlagSet) bool {
	known, heading := len(m.Flags), ""
	if len(lines) > 1 && strings.HasSuffix(lines[0], ":") && flagLine.MatchString(lines[1]) {
		heading, lines = lines[0], lines[1:]
	}
	var of []int // the flags that a line is about
	for _, line := range lines {
		found := flagLine.FindStringSubmatch(line)
		if found == nil && len(of) == 0 {
			return false
		}
		if found != nil {
			of, line = of[:0], found[2]
			for _, each := range strings.Split(found[1], ", ") {
				name, argument, _ := strings.Cut(each, " ")
				f := flagManual{Name: name, Argument: argument}
				f.Values, f.Several = valuesOf(declared.Lookup(strings.TrimLeft(name, "-")))
				m.Flags = append(m.Flags, f)
				of = append(of, len(m.Flags)-1)
			}
		}
		for _, i := range of {
			m.Flags[i].lines = append(m.Flags[i].lines, line)
		}
	}
	for i := known; i < len(m.Flags); i++ {
		f := &m.Flags[i]
		f.heading, heading = heading, ""
		f.Help = strings.Join(strings.Fields(strings.Join(f.lines, " ")), " ")
	}
	return true
}

// valuesOf are the words that a flag may have; nil if it takes anything.
func valuesOf(f *flag.Flag) (words []string, several bool) {
	if f == nil {
		return nil, false
	}
	switch v := f.Value.(type) {
	case *choice:
		return v.allowed, false
	case *names:
		return append(slices.Concat(v.allowed, v.extra), "all"), true
	}
	switch f.Name {
	case "lock":
		return allLocks(), false
	case "mixed":
		return allLocks(), true
	}
	return nil, false
}

// declared are the flags that a command declares: it is asked for its help, and declares them before it prints it.
func (cmd *command) declared() *flag.FlagSet {
	found := newFlags(cmd.name)
	c := &call{ctx: context.Background(), name: cmd.name, args: []string{"--help"}, stdout: io.Discard, stderr: io.Discard, files: &unfinished{}}
	c.env.flags = func(fs *flag.FlagSet) { found = fs }
	cmd.run(c)
	return found
}

// roff writes the command as a manual page: man locksim-run.
func (m *manual) roff(w io.Writer) {
	fmt.Fprintf(w, ".TH LOCKSIM-%s 1\n.SH NAME\nlocksim-%s \\- %s\n.SH SYNOPSIS\n.nf\n", strings.ToUpper(m.Name), m.Name, escaped(m.Summary))
	for _, line := range m.Synopsis {
		fmt.Fprintln(w, ".B "+escaped(line))
	}
	fmt.Fprint(w, ".fi\n")
	if len(m.before) > 0 {
		fmt.Fprint(w, ".SH DESCRIPTION\n")
		paragraphs(w, m.before)
	}
	if len(m.Flags) > 0 {
		fmt.Fprint(w, ".SH OPTIONS\n")
	}
	for i := range m.Flags {
		f := &m.Flags[i]
		if f.heading != "" {
			fmt.Fprintln(w, ".SS "+escaped(f.heading))
		}
		fmt.Fprintf(w, ".TP\n\\fB%s\\fR", escaped(f.Name))
		if f.Argument != "" {
			fmt.Fprintf(w, " \\fI%s\\fR", escaped(f.Argument))
		}
		fmt.Fprintln(w)
		for j, line := range f.lines {
			if j > 0 && strings.HasPrefix(line, strings.Repeat(" ", 23)) { // an entry of a list
				fmt.Fprintln(w, ".br")
			}
			fmt.Fprintln(w, escaped(strings.TrimSpace(line)))
		}
	}
	if len(m.after) > 0 {
		fmt.Fprint(w, ".SH NOTES\n")
		paragraphs(w, m.after)
	}
	fmt.Fprint(w, ".SH SEE ALSO\n.BR locksim (1)\n")
}

// paragraphs writes text; what is indented stays as it is.
func paragraphs(w io.Writer, list []string) {
	for _, text := range list {
		if strings.HasPrefix(text, " ") {
			fmt.Fprintf(w, ".PP\n.nf\n%s\n.fi\n", escaped(text))
			continue
		}
		fmt.Fprintf(w, ".PP\n%s\n", escaped(text))
	}
}

// escaped is a text in which roff sees no request of its own.
func escaped(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

// roffOverview writes the page about all commands: man locksim.
func roffOverview(w io.Writer) {
	fmt.Fprint(w, ".TH LOCKSIM 1\n.SH NAME\nlocksim \\- simulate distributed locks under faults, and show which guarantees break\n"+
		".SH SYNOPSIS\n.B locksim\n.I COMMAND\n[\\fIargument\\fR...]\n.SH COMMANDS\n")
	for _, cmd := range commands() {
		fmt.Fprintf(w, ".TP\n.BR locksim\\-%s (1)\n%s\n", cmd.name, escaped(cmd.summary))
	}
	fmt.Fprint(w, ".SH ENVIRONMENT\n")
	for _, name := range commonFlags {
		fmt.Fprintf(w, ".TP\n.B %s\nThe value of %s where it is not given.\n", variableOf(name), escaped(dashed(name)))
	}
	fmt.Fprint(w, ".TP\n.B COLUMNS\nThe width of texts, before that of the terminal.\n.TP\n.B NO_COLOR\nNo colours, if it is not empty.\n"+
		".SH EXIT STATUS\n"+escaped(exitCodes))
}
