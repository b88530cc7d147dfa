package main

import (
	"encoding/json"
	"io"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/ingest"
	"github.com/locksim/locksim/trace"
)

// judgeSchema names the form of a judgement as JSON.
const judgeSchema = "locksim.judge/1"

// jsonJudgement fixes the keys and their order. Moments are those of the logs: times of day, or durations since the beginning.
type jsonJudgement struct {
	Schema       string            `json:"schema"`
	Headline     string            `json:"headline"`
	Logs         []string          `json:"logs"`
	Lines        int               `json:"lines"`
	Ignored      int               `json:"ignored_lines"`
	Unknown      int               `json:"lines_of_unknown_acquisitions"`
	Events       int               `json:"events"`
	From         string            `json:"from"`
	To           string            `json:"to"`
	Clients      int               `json:"clients"`
	Locks        int               `json:"locks"`
	Acquisitions int               `json:"acquisitions"`
	Verdicts     map[string]string `json:"verdicts"`
	Reasons      map[string]string `json:"reasons"`
	Certain      int               `json:"certain_overlaps"`
	Possible     int               `json:"possible_overlaps"`
	StaleWrites  int               `json:"stale_writes"`
	MayBeStale   int               `json:"possibly_stale_writes"`
	AtLeast      bool              `json:"at_least,omitempty"`              // the counts are lower bounds
	Awake        *jsonPlace        `json:"contradicts_itself_at,omitempty"` // a line that has a client do something while it is paused
	Findings     []jsonFinding     `json:"findings"`
}

type jsonPlace struct {
	File string `json:"file"`
	Line int    `json:"line"`
}

type jsonFinding struct {
	Property string     `json:"property"`
	Kind     string     `json:"kind"`
	Certain  bool       `json:"certain"`
	Lock     string     `json:"lock"`
	Resource string     `json:"resource,omitempty"` // that several locks guard; lock is empty then
	At       string     `json:"at"`
	Until    string     `json:"until,omitempty"`
	Slack    int64      `json:"certain_unless_clocks_differ_by_ns,omitempty"`
	Sides    []jsonSide `json:"clients"`
}

type jsonSide struct {
	Client string `json:"client"`
	Token  uint64 `json:"token,omitempty"`
	File   string `json:"file"`
	Line   int    `json:"line"`
	From   string `json:"from"`
	To     string `json:"to,omitempty"` // not there if the log does not tell of an end
}

func (v *verdicts) json(w io.Writer) error {
	r := v.result
	doc := jsonJudgement{
		Schema: judgeSchema, Headline: v.headline(), Logs: v.logs, Lines: v.read.Lines, Ignored: v.read.Ignored, Unknown: r.Orphans, Events: r.Events,
		From: v.when(r.First), To: v.when(r.Last), Clients: r.Clients, Locks: r.Locks, Acquisitions: r.Acquisitions,
		Verdicts: map[string]string{}, Reasons: map[string]string{}, Certain: r.Certain, Possible: r.Possible, StaleWrites: r.StaleWrites,
		MayBeStale: r.MayBeStale, AtLeast: r.AtLeast, Findings: []jsonFinding{},
	}
	if at := r.Awake; at.Line > 0 {
		doc.Awake = &jsonPlace{File: at.File, Line: at.Line}
	}
	for p := range checker.PropertyCount {
		if judged := r.Verdicts[p] != checker.NotJudged; judged || p == checker.MutualExclusion || p == checker.FencingOrder || p == checker.Resource {
			doc.Verdicts[p.String()] = r.Verdicts[p].String()
			if r.Reasons[p] != "" {
				doc.Reasons[p.String()] = r.Reasons[p]
			}
		}
	}
	for i := range r.Findings {
		doc.Findings = append(doc.Findings, v.finding(&r.Findings[i]))
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(doc)
}

func (v *verdicts) finding(f *ingest.Finding) jsonFinding {
	j := jsonFinding{Property: f.Property.String(), Kind: f.Kind, Certain: f.Certain, Lock: f.Lock, Resource: f.Resource, At: v.when(f.At), Sides: []jsonSide{}}
	if f.Until > f.At {
		j.Until = v.when(f.Until)
	}
	if f.Certain {
		j.Slack = int64(f.Slack)
	}
	for _, s := range f.Sides {
		side := jsonSide{Client: s.Client, Token: s.Token, File: s.Position.File, Line: s.Position.Line, From: v.when(s.From)}
		if s.To != trace.Never {
			side.To = v.when(s.To)
		}
		j.Sides = append(j.Sides, side)
	}
	return j
}
