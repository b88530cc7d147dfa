package profile

import (
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/scenarios"
)

// Profile is what happens in a deployment, and how often.
type Profile struct {
	Title   string
	Source  string // where the numbers are from
	Example bool   // the numbers are nobody's

	Acquisitions Rate       // of one lock, by all clients together
	Contention   Contention // nil fields if it is not stated
	Work         Work       // the critical section
	Latency      Law        // of a message, one way; nil if it is not stated

	// What goes wrong. Empty means that it never happens, if the profile has the field; see Require.
	Pauses    []Event // of one client process; Length is that of the pause
	Cuts      []Event // of one client process from the servers; Length is how long it takes
	Crashes   []Crash // of one server
	Failovers []Event // of the service; Length is nil
	Clocks    []Clock
	Causes    []Cause // what strikes several servers at once

	document *scenarios.Document
}

// Contention says how likely another client asks for the lock while it is held.
type Contention struct {
	Share   float64 // of acquisitions that have to wait for another client; NaN if Clients is stated instead
	Clients int     // how many client processes compete for the lock; 0 if Share is stated instead
}

// Work is what a client does while it holds the lock.
type Work struct {
	Length Law
	CPU    bool // a pause during cpu-bound work prolongs it
}

// Event is something that happens at random times. Field is the path to it in the profile.
type Event struct {
	Name   string
	Field  string
	Rate   Rate
	Length Law
}

// Crash is the end of a server's process; Length is its downtime.
type Crash struct {
	Event
	Keep string // the data with which it restarts: "all", "nothing", or "" for what the scenario's persistence says
}

// Clock says how wrong the clocks of some nodes are.
type Clock struct {
	Field string
	Of    string // "clients", "servers" or "all"
	Drift Law    // how much it gains or loses in a second of true time, either as likely; nil if it is right
	Steps []Event
}

// Cause restarts several servers, one after the other at random moments within a time.
type Cause struct {
	Event
	Servers int           // how many of them; 0 for all
	Within  time.Duration // from the first restart to the last
	Keep    string
}

// Require returns errors about fields that the profile does not have, each of them at once; nil if it has all. A field that
// says `none` is there.
func (p *Profile) Require(fields ...string) error {
	var missing scenarios.Errors
	for _, f := range fields {
		if p.document.Has(f) {
			continue
		}
		allowed := ""
		for _, d := range documented {
			if d.name == f {
				allowed = d.wanted
			}
		}
		missing = append(missing, p.document.Problem(f, "missing", allowed))
	}
	return missing.InOrder()
}

// Errorf returns an error about a field, positioned where it stands in the profile.
func (p *Profile) Errorf(field, problem, allowed string) error {
	return p.document.Problem(field, problem, allowed)
}

// documented says what to write in a field that the estimate needs.
var documented = []struct{ name, wanted string }{
	{"acquisitions", "how often the lock is acquired, such as 20/s"},
	{"contention", "the share of acquisitions that wait for another, such as 5%, or {clients: 8}"},
	{"work", "how long the lock is held, such as {length: {p50: 200ms, p99: 2s, tail: pareto}}"},
	{"latency", "a law of the one-way latency, such as {file: ping.txt}"},
	{"pauses", "a rate and a law, such as {length: {file: gc.log}}, or none"},
	{"cuts", "a rate and a law, such as {rate: 1/month, length: {p50: 5s, p99: 1m, tail: pareto}}, or none"},
	{"crashes", "a rate and a law, such as {rate: 1/year, downtime: 10s}, or none"},
	{"failovers", "a rate, such as {rate: 1/month}, or none"},
	{"clocks", "a law of drifts and the rate of steps, or none"},
	{"causes", "what restarts several servers at once, such as {rate: every 7d, restarts: all, within: 10m, downtime: 5s}, or none"},
}

// Read reads a profile; name is what errors call it. Files that it names are opened by open, with the names that stand in it.
// What is wrong comes back as scenarios.Errors with positions, all of it at once, those in the files that it names among them.
func Read(name string, text []byte, open func(string) (io.ReadCloser, error)) (*Profile, error) {
	raw, document, problems := format.Parse(name, text)
	b := builder{document: document, open: open, problems: problems}
	p := b.profile(&raw)
	if err := b.problems.InOrder(); err != nil {
		return nil, err
	}
	return p, nil
}

// Schema returns the JSON Schema of profiles.
func Schema() []byte { return format.Schema() }

// parsePercent reads a share.
func parsePercent(text string) (float64, string) {
	v, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	switch {
	case !strings.HasSuffix(text, "%") || err != nil || math.IsNaN(v):
		return 0, quoted(text) + " is no percentage"
	case v < 0 || v > 100:
		return 0, text + " is out of range"
	}
	return v / 100, ""
}

// parsePositive reads a number above 0.
func parsePositive(text string) (float64, string) {
	v, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || math.IsNaN(v):
		return 0, quoted(text) + " is no number"
	case v <= 0 || v > 1e6:
		return 0, text + " is out of range"
	}
	return v, ""
}

const driftPattern = `^[0-9]+(\.[0-9]+)?(ppm|ppb|%)$`

var driftForm = regexp.MustCompile(driftPattern)

// parseDrift reads how wrong a clock runs, as the time that it gains or loses in a second.
func parseDrift(text string) (time.Duration, string) {
	parts := driftForm.FindStringSubmatch(text)
	if parts == nil {
		return 0, quoted(text) + " is no drift"
	}
	unit := parts[2]
	v, err := strconv.ParseFloat(strings.TrimSuffix(text, unit), 64)
	if err != nil {
		return 0, quoted(text) + " is no drift"
	}
	switch unit {
	case "ppm":
		v *= 1e3
	case "%":
		v *= 1e7
	}
	if v > 1e9 {
		return 0, text + " is more than 100%"
	}
	return time.Duration(math.Round(v)), ""
}
