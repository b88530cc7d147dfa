package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/locksim/locksim/clients"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

func listCommand() command {
	return command{name: "list", summary: "list scenarios, locks and faults", usage: listUsage, run: runList, names: func() []string { return listKinds }}
}

const listUsage = `usage: locksim list [scenarios|locks|faults] [--json]

Lists the named scenarios, the locks and libraries, and the kinds of faults; without an argument, all of these.

  --json             as JSON
`

// listing is what is listed; as JSON, the schema "locksim.list/1".
type listing struct {
	Schema    string          `json:"schema"`
	Scenarios []scenarioEntry `json:"scenarios"`
	Locks     []lockEntry     `json:"locks"`
	Libraries []libraryEntry  `json:"libraries"`
	Faults    []faultEntry    `json:"faults"`
}

type scenarioEntry struct {
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Lock     string   `json:"lock"`
	Servers  []string `json:"servers"` // their backends
	Fencing  []string `json:"fencing"`
	Styles   []string `json:"styles"`
	Variants []string `json:"variants"`
	Source   string   `json:"source"`
}

type lockEntry struct {
	Name     string `json:"name"`
	Title    string `json:"title"`
	Servers  string `json:"servers"`  // the backend
	Token    bool   `json:"token"`    // its leases carry a fencing token
	Deadline string `json:"deadline"` // the clock on which they state one: "none", "wall" or "monotonic"
	Identity string `json:"identity"` // what a release identifies the holder by
	Lease    bool   `json:"lease"`    // a grant ends by itself
	Source   string `json:"source"`
	Status   string `json:"status,omitempty"` // why it cannot be recommended: "published mistake", "superseded", "unavailable"
	line     string
}

// libraryEntry is a lock that a ready-made client brings.
type libraryEntry struct {
	lockEntry
	Module   string   `json:"module"`   // of the library
	Versions []string `json:"versions"` // of it with which the client can be played, as NAME@VERSION
}

type faultEntry struct {
	Name   string   `json:"name"`
	Doc    string   `json:"doc"`
	Fields []string `json:"fields"`
}

var listKinds = []string{"scenarios", "locks", "faults"}

func runList(c *call) int {
	fs := newFlags("list")
	var asJSON boolFlag
	fs.Var(&asJSON, "json", "")
	names, err := c.parse(fs)
	switch {
	case errors.Is(err, errHelp):
		return c.help("list")
	case err != nil:
		return c.wrong(err)
	}
	for _, name := range names {
		if !slices.Contains(listKinds, name) {
			return c.fail("list: cannot list %q%s", name, didYouMean(name, listKinds, "help list"))
		}
	}
	if len(names) == 0 {
		names = listKinds
	}
	l, err := gather(names, bool(asJSON))
	if err != nil {
		return c.failures(err)
	}
	write := l.text
	if asJSON {
		write = l.json
	}
	if err := write(c.stdout); err != nil {
		return c.failures(err)
	}
	return exitOK
}

// gather collects the lists that were asked for; the others stay empty. Unless all is asked for, scenarios have names and titles only.
func gather(names []string, all bool) (*listing, error) {
	l := &listing{Schema: "locksim.list/1", Scenarios: []scenarioEntry{}, Locks: []lockEntry{},
		Libraries: []libraryEntry{}, Faults: []faultEntry{}}
	if slices.Contains(names, "scenarios") {
		for _, name := range scenarios.Names() {
			e, err := scenarioEntryOf(name, all)
			if err != nil {
				return nil, err
			}
			l.Scenarios = append(l.Scenarios, e)
		}
	}
	if slices.Contains(names, "locks") {
		for _, a := range locks.Catalogue().All() {
			l.Locks = append(l.Locks, lockEntryOf(&a))
		}
		for _, c := range clients.Catalogue() {
			l.Libraries = append(l.Libraries, libraryEntry{lockEntryOf(&c.Lock), c.Library, c.Versions()})
		}
	}
	if slices.Contains(names, "faults") {
		l.Faults = faultEntries()
	}
	return l, nil
}

// versionColumns is how wide a line of versions is at most.
const versionColumns = 76

// spans lists versions, with those that differ in their last number, and follow each other there, as a span.
func spans(versions []string) string {
	var parts []string
	for i := 0; i < len(versions); {
		last := i
		for last+1 < len(versions) && follows(versions[last], versions[last+1]) {
			last++
		}
		if last > i+1 {
			parts = append(parts, versions[i]+" to "+versions[last])
		} else {
			parts = append(parts, versions[i:last+1]...)
		}
		i = last + 1
	}
	return strings.Join(parts, ", ")
}

// follows reports whether a version is the next one of the same minor version.
func follows(version, next string) bool {
	dot := strings.LastIndexByte(version, '.') + 1
	number, err := strconv.Atoi(version[dot:])
	return err == nil && next == version[:dot]+strconv.Itoa(number+1)
}

func lockEntryOf(a *locks.Algorithm) lockEntry {
	return lockEntry{
		Name: a.Name, Title: a.Title, Servers: a.Backend(), Token: a.Token, Deadline: clockName(a.Deadline),
		Identity: a.Identity, Lease: a.Lease, Source: a.Source, Status: a.Status.String(), line: a.Line(),
	}
}

// scenarioEntryOf has the title of a scenario, and if all is asked for every backend, mode, style and variant in which it is played,
// in the order of its cases.
func scenarioEntryOf(name string, all bool) (scenarioEntry, error) {
	if !all {
		title, err := scenarios.Title(name)
		return scenarioEntry{Name: name, Title: title}, err
	}
	s, err := scenarios.Load(name)
	if err != nil {
		return scenarioEntry{}, err
	}
	e := scenarioEntry{Name: s.Name, Title: s.Title, Lock: s.Lock.Algorithm, Variants: []string{}, Source: s.Source}
	for _, c := range s.Cases() {
		e.Servers = appendNew(e.Servers, c.Scenario.Servers.Kind)
		e.Fencing = appendNew(e.Fencing, c.Fencing.String())
		e.Styles = appendNew(e.Styles, c.Style.String())
		if c.Variant != "" {
			e.Variants = appendNew(e.Variants, c.Variant)
		}
	}
	return e, nil
}

func appendNew(list []string, word string) []string {
	if slices.Contains(list, word) {
		return list
	}
	return append(list, word)
}

func lockNames() []string {
	var names []string
	for _, a := range locks.Catalogue().All() {
		names = append(names, a.Name)
	}
	return names
}

func titleOf(kind string) string { return scenarios.Kind(kind).Facts().Title }

func clockName(k locks.ClockKind) string {
	switch k {
	case locks.OnWall:
		return "wall"
	case locks.OnMonotonic:
		return "monotonic"
	default:
		return "none"
	}
}

func (l *listing) json(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(l)
}

func (l *listing) text(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	sections := 0
	head := func(title string) {
		if sections > 0 {
			fmt.Fprintln(t)
		}
		sections++
		fmt.Fprintln(t, title)
	}
	if len(l.Scenarios) > 0 {
		head("scenarios: locksim run NAME")
	}
	for _, s := range l.Scenarios {
		fmt.Fprintf(t, "  %s\t%s\n", s.Name, reports.Visible(s.Title))
	}
	kind := ""
	for _, k := range l.Locks {
		if k.Servers != kind {
			kind = k.Servers
			head("locks on " + titleOf(kind) + ": locksim run NAME --lock LOCK")
		}
		fmt.Fprintf(t, "  %s\t%s\n", k.Name, k.line)
	}
	if len(l.Libraries) > 0 {
		head("libraries, built at their first use: locksim fuzz LIBRARY")
	}
	for _, k := range l.Libraries {
		fmt.Fprintf(t, "  %s\t%s\n", k.Name, k.Title)
	}
	if len(l.Libraries) > 0 {
		head("versions of libraries: LIBRARY@VERSION; commits can be tried, too")
	}
	for _, k := range l.Libraries {
		for i, line := range reports.Wrap(spans(k.Versions), versionColumns, "") {
			if i > 0 {
				k.Name = ""
			}
			fmt.Fprintf(t, "  %s\t%s\n", k.Name, line)
		}
	}
	if len(l.Faults) > 0 {
		head("faults, for the list \"faults\" of a scenario")
	}
	for _, f := range l.Faults {
		fmt.Fprintf(t, "  %s\t%s", f.Name, f.Doc)
		if len(f.Fields) > 0 {
			fmt.Fprintf(t, " (%s)", strings.Join(f.Fields, ", "))
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}
