// Package page makes of schedules one HTML file that needs no network: the picture of a run to zoom into, to step through
// and to hold against its twin under another fencing mode. [Write] writes it.
package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/locksim/locksim/reports/internal/fill"
	"github.com/locksim/locksim/reports/internal/svg"
	"github.com/locksim/locksim/reports/internal/timeline"
)

//go:embed assets
var assets embed.FS

// script is in its order: what comes later uses what comes before.
var script = []string{
	"dom.js", "data.js", "scale.js", "shapes.js", "pointer.js", "chart.js", "lists.js", "link.js", "main.js", "present.js", "controls.js",
}

// content is what the template is filled with. Texts of scenarios are plain strings, for the template to escape; only
// what this package or package svg made itself is trusted.
type content struct {
	Title, Name string
	Policy      string // what the page may do: load nothing, and run the one script that it brings
	Style       fill.Raw
	Script      fill.Raw
	Data        fill.Raw
	Picture     fill.Raw // what is seen where scripts are off
	Panel       fill.Raw // the playground's above the picture
	Bench       fill.Raw // the playground's below it
	Opening     fill.Raw // what it opens with
}

// playScript comes behind script where scenarios can be changed.
var playScript = []string{"engine.js", "text.js", "play.js"}

// Worker is the script of the playground's workers. It loads wasm_exec.js and locksim.wasm from beside it.
func Worker() []byte { return []byte(asset("worker.js")) }

// Write writes a page of schedules. The same schedules make the same bytes.
func Write(w io.Writer, schedules []timeline.Schedule) error {
	code := joined(script)
	return write(w, schedules, &content{Policy: policy(code, ""), Style: fill.Raw(asset("page.css")), Script: fill.Raw(code)})
}

// Opening is what a playground opens with: the text of a scenario file, and what the engine answers to it but for the schedules, which
// the page has anyway. So it can be looked at, and changed, before the engine is there.
type Opening struct {
	Text       string          `json:"text"`
	Variant    string          `json:"variant"`
	Answer     json.RawMessage `json:"answer"`
	Documented bool            `json:"documented"` // the documentation begins at manual/index.html
}

// Play writes the page of a playground, in which the scenario can be changed.
func Play(w io.Writer, schedules []timeline.Schedule, o Opening) error {
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	code := joined(append(slices.Clone(script), playScript...))
	return write(w, schedules, &content{
		Policy: policy(code, "; worker-src 'self' blob:"),
		Style:  fill.Raw(asset("page.css") + asset("play.css")), Script: fill.Raw(code),
		Panel: fill.Raw(asset("play.html")), Bench: fill.Raw(asset("bench.html")), Opening: fill.Raw(data),
	})
}

func write(w io.Writer, schedules []timeline.Schedule, c *content) error {
	if len(schedules) == 0 {
		return errors.New("page: there is no schedule to show")
	}
	// encoding/json writes <, > and & as escapes, so that nothing in a text can end the element around it.
	data, err := json.Marshal(schedules)
	if err != nil {
		return err
	}
	first := &schedules[0]
	var picture strings.Builder
	if err := svg.Write(&picture, first); err != nil {
		return err
	}
	c.Title, c.Name, c.Data, c.Picture = first.Title, first.Scenario, fill.Raw(data), fill.Raw(picture.String())
	if c.Title == "" {
		c.Title = first.Scenario
	}
	return fill.Page(w, asset("page.html"), c)
}

// comments of a script stand on lines of their own; nobody reads them in a page.
var comments = regexp.MustCompile(`(?m)^ *//.*\n`)

// joined is the script in one piece.
func joined(script []string) string {
	var b strings.Builder
	b.WriteString("\"use strict\";\n")
	for _, name := range script {
		b.WriteString(comments.ReplaceAllString(asset(name), ""))
	}
	return b.String()
}

func asset(name string) string {
	text, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic("page: an asset is missing: " + err.Error())
	}
	return string(text)
}

// policy is the page's content security policy (w3.org/TR/CSP3): it knows the script by its hash, so that no other one
// could run even if it got into the page; more is what else may be loaded. Styles may stand at elements; they can load nothing either.
func policy(code, more string) string {
	sum := sha256.Sum256([]byte(code))
	return "default-src 'none'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'" + more + "; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
}
