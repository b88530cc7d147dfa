package profile

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// ping reads round trips, as ping prints them on Linux, macOS and Windows. A message takes half of one.
type ping struct{ lost int64 }

var (
	pingSign = regexp.MustCompile(`\b(icmp_seq=|seq=|ttl=|bytes[= ]).*time[=<][0-9.]+ ?ms`)
	pingTime = regexp.MustCompile(`time[=<]([0-9.]+) ?ms`)
	pingLost = regexp.MustCompile(`no answer yet|[Tt]imeout|timed out|Unreachable`)
)

func (p *ping) line(text string, r *recording) *complaint {
	switch {
	case strings.Contains(text, "(DUP!)"):
	case strings.Contains(text, "time") && pingSign.MatchString(text):
		v, wrong := parseNumber(pingTime.FindStringSubmatch(text)[1], 1e6)
		if wrong != "" {
			return &complaint{wrong, "a number"}
		}
		r.sample.add(v/2, 1)
	case pingLost.MatchString(text):
		p.lost++
	}
	return nil
}

func (p *ping) end(r *recording) {
	if p.lost > 0 {
		r.notes = append(r.notes, counted(p.lost, "message")+" without an answer, which are not in the law")
	}
}

// chrony reads the output of chronyc tracking and chronyc sourcestats: how wrong the clock's rate is after correction, with the
// bound of the error of that estimate.
type chrony struct{ residual float64 }

var (
	chronySign     = regexp.MustCompile(`^Residual freq +:|^Reference ID +: [0-9A-F]{8}|^Name/IP Address +NP +NR +Span +Frequency`)
	chronyResidual = regexp.MustCompile(`^Residual freq +: ([+-]?[0-9.]+) ppm`)
	chronySkew     = regexp.MustCompile(`^Skew +: ([0-9.]+) ppm`)
	chronyStats    = regexp.MustCompile(`^\S+ +[0-9]+ +[0-9]+ +[0-9]+[a-z]* +([+-]?[0-9.]+) +([0-9.]+) +[+-]?[0-9.]+[a-z]+ +[0-9.]+[a-z]+`)
)

func (c *chrony) line(text string, r *recording) *complaint {
	if parts := chronyResidual.FindStringSubmatch(text); parts != nil {
		v, wrong := parseNumber(strings.TrimLeft(parts[1], "+-"), 1e3)
		if wrong != "" {
			return &complaint{wrong, "a number"}
		}
		c.residual = v
	}
	parts := chronySkew.FindStringSubmatch(text)
	drift := c.residual
	if stats := chronyStats.FindStringSubmatch(text); stats != nil {
		v, wrong := parseNumber(strings.TrimLeft(stats[1], "+-"), 1e3)
		if wrong != "" {
			return &complaint{wrong, "a number"}
		}
		drift, parts = v, stats[1:]
	}
	if parts == nil {
		return nil
	}
	skew, wrong := parseNumber(parts[1], 1e3)
	if wrong != "" {
		return &complaint{wrong, "a number"}
	}
	r.sample.add(drift+skew, 1)
	return nil
}

func (c *chrony) end(*recording) {}

// numbers reads a value a line, or a column of a table whose cells are separated by commas, semicolons, tabs or spaces. Empty
// lines and those that begin with # are skipped.
type numbers struct {
	unit   float64
	column string
	index  int // of the column, from 0; -1 until the header has been read
	begun  bool
}

func skipped(line string) bool {
	trimmed := strings.TrimSpace(line)
	return trimmed == "" || trimmed[0] == '#'
}

// cellsOf splits a line by the first separator that it has.
func cellsOf(line string) []string {
	for _, separator := range []string{";", ",", "\t", " "} {
		if !strings.Contains(strings.TrimSpace(line), separator) {
			continue
		}
		cells := strings.Split(strings.TrimSpace(line), separator)
		if separator == " " {
			cells = strings.Fields(line)
		}
		for i := range cells {
			cells[i] = strings.Trim(strings.TrimSpace(cells[i]), `"`)
		}
		return cells
	}
	return []string{strings.Trim(strings.TrimSpace(line), `"`)}
}

func (n *numbers) line(text string, r *recording) *complaint {
	if skipped(text) {
		return nil
	}
	cells := cellsOf(text)
	if _, wrong := parseNumber(strings.TrimSpace(text), 1); n.column == "" && wrong == "" {
		cells = []string{strings.TrimSpace(text)} // with a unit that stands apart, perhaps
	}
	if !n.begun {
		n.begun = true
		header, c := n.begin(cells)
		if c != nil || header {
			return c
		}
	}
	if n.index >= len(cells) {
		return &complaint{fmt.Sprintf("%d columns", len(cells)), fmt.Sprintf("a value in column %d", n.index+1)}
	}
	if n.column == "" && len(cells) > 1 {
		return &complaint{fmt.Sprintf("%d columns", len(cells)), "one, or the name or the number of a column in column"}
	}
	v, wrong := parseNumber(cells[n.index], n.unit)
	if wrong != "" {
		allowed := "a number"
		if strings.HasSuffix(wrong, noUnit) {
			allowed = "a number with a unit such as 3ms, or the field unit beside file"
		}
		return &complaint{wrong, allowed}
	}
	r.sample.add(v, 1)
	return nil
}

// begin finds the column by the first line, which may be a header.
func (n *numbers) begin(cells []string) (header bool, c *complaint) {
	if i := slices.Index(cells, n.column); n.column != "" && i >= 0 {
		if _, wrong := parseNumber(cells[i], 1); wrong != "" {
			n.index = i
			return true, nil
		}
	}
	if n.column != "" {
		i, err := strconv.Atoi(n.column)
		if err != nil || i < 1 || i > len(cells) {
			return false, &complaint{"no column " + quoted(n.column), "one of " + strings.Join(cells, ", ") + ", or a number from 1"}
		}
		n.index = i - 1
	}
	if n.index < len(cells) {
		_, wrong := parseNumber(cells[n.index], 1)
		return wrong != "" && (n.column != "" || len(cells) == 1) && !strings.ContainsAny(cells[n.index], "0123456789"), nil
	}
	return false, nil
}

func (n *numbers) end(*recording) {}

const noUnit = " has no unit"

// parseNumber reads a number that is not negative, with the unit that it has, or else this one, which may be missing (0).
func parseNumber(text string, unit float64) (float64, string) {
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			return 0, quoted(text) + " is no number"
		case v < 0:
			return 0, quoted(text) + " is negative"
		case unit == 0:
			return 0, quoted(text) + noUnit
		case v*unit > float64(100*Year):
			return 0, quoted(text) + " is longer than a century"
		}
		return v * unit, ""
	}
	if rest, ok := strings.CutSuffix(text, "ppm"); ok {
		return parseNumber(strings.TrimSpace(rest), 1e3)
	}
	d, wrong := parseLength(strings.ReplaceAll(text, " ", ""))
	if wrong != "" {
		return 0, quoted(text) + " is no number"
	}
	return float64(d), ""
}
