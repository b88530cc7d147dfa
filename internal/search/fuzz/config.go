package fuzz

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/scenarios"
)

// Config says what is searched for. Of two campaigns with one text of it, played by one build, every run with the same number
// is the same run.
type Config struct {
	Lock       string              // a name of the catalogue, or of a lock that is given to [New]
	Beside     []string            // locks that some clients have instead of it, each drawing one of them all; without Base
	Base       *scenarios.Scenario // to which faults are added, instead of drawing everything; without variants
	Faults     []search.Kind
	Styles     []history.Style    // in which each scenario is played; careless, or those of Base
	Fencing    []history.Fencing  // likewise; unfenced, or those of Base
	Properties []checker.Property // violations of which count; those of DefaultProperties, and of a program's survival
	Program    string             // the digest of the program that brings the lock; "" if none does. New fills it in
	Drift      int64              // how far clocks may run off, in parts per million; 0: what a wide fault model allows
	_          struct{}
}

// MostDrift is how far a clock may run off: it then nearly stands still, or runs nearly twice as fast.
const MostDrift = 999_999

// DefaultProperties lists what a lock is expected to keep: neither availability, since faults may well keep every client from the
// lock while they last, nor load, which only a scenario can bound. A program is expected to survive, too.
func DefaultProperties() []checker.Property {
	return []checker.Property{
		checker.MutualExclusion, checker.ExclusionAtService, checker.Resource, checker.FencingOrder,
		checker.ReleaseSafety, checker.Progress, checker.Leak, checker.SilentLoss,
	}
}

// canonical returns the configuration with its defaults and with its lists in the order of their names' lists, so that
// those that mean the same are the same.
func (c Config) canonical() Config {
	if c.Base != nil {
		c.Lock = c.Base.Lock.Algorithm
		c.Styles, c.Fencing = orDefault(c.Styles, c.Base.Styles...), orDefault(c.Fencing, c.Base.Resource.Fencing...)
	}
	c.Faults = sorted(c.Faults)
	c.Styles = sorted(orDefault(c.Styles, history.Careless))
	c.Fencing = sorted(orDefault(c.Fencing, history.Unfenced))
	c.Properties = sorted(orDefault(c.Properties, DefaultProperties()...))
	return c
}

func orDefault[T any](list []T, fallback ...T) []T {
	if len(list) == 0 {
		return fallback
	}
	return list
}

func sorted[T cmp.Ordered](list []T) []T { return slices.Compact(slices.Sorted(slices.Values(list))) }

// words is a configuration in words, as a ledger has it.
type words struct {
	Lock       string   `json:"lock"`
	Beside     []string `json:"beside,omitempty"`
	Program    string   `json:"program,omitempty"`
	Base       string   `json:"base,omitempty"`
	Faults     []string `json:"faults"`
	Styles     []string `json:"styles"`
	Fencing    []string `json:"fencing"`
	Properties []string `json:"properties"`
	Drift      int64    `json:"drift,omitempty"`
}

func (c Config) words() words {
	c = c.canonical()
	w := words{
		Lock: c.Lock, Beside: c.Beside, Program: c.Program, Faults: names(c.Faults), Styles: names(c.Styles), Fencing: names(c.Fencing),
		Properties: names(c.Properties), Drift: c.Drift,
	}
	if c.Base != nil {
		w.Base = string(c.Base.YAML())
	}
	return w
}

func names[T fmt.Stringer](list []T) []string {
	texts := make([]string, len(list))
	for i, x := range list {
		texts[i] = x.String()
	}
	return texts
}

// MarshalJSON writes the configuration in words, the same for all that mean the same.
func (c Config) MarshalJSON() ([]byte, error) { return json.Marshal(c.words()) }

// UnmarshalJSON is the inverse of MarshalJSON.
func (c *Config) UnmarshalJSON(text []byte) error {
	var w words
	if err := json.Unmarshal(text, &w); err != nil {
		return err
	}
	if w.Drift < 0 || w.Drift > MostDrift {
		return fmt.Errorf("the drift %d is not within 0 and %d", w.Drift, MostDrift)
	}
	*c = Config{Lock: w.Lock, Beside: w.Beside, Program: w.Program, Drift: w.Drift}
	if w.Base != "" {
		base, err := scenarios.Parse("base", []byte(w.Base))
		if err != nil {
			return err
		}
		c.Base = base
	}
	return errors.Join(
		parse(&c.Faults, "fault", w.Faults, search.ParseKind), parse(&c.Styles, "style", w.Styles, history.ParseStyle),
		parse(&c.Fencing, "fencing mode", w.Fencing, history.ParseFencing),
		parse(&c.Properties, "property", w.Properties, checker.ParseProperty),
	)
}

func parse[T any](list *[]T, what string, names []string, one func(string) (T, bool)) error {
	for _, name := range names {
		x, ok := one(name)
		if !ok {
			return fmt.Errorf("there is no %s %q", what, name)
		}
		*list = append(*list, x)
	}
	return nil
}

// differences says in what two configurations differ.
func (c Config) differences(other Config) []string {
	a, b := c.words(), other.words()
	var list []string
	differ := func(what, x, y string) {
		if x != y {
			list = append(list, fmt.Sprintf("%s %s, not %s", what, cmp.Or(x, "none"), cmp.Or(y, "none")))
		}
	}
	differ("lock", a.Lock, b.Lock)
	differ("other locks", strings.Join(a.Beside, ","), strings.Join(b.Beside, ","))
	if a.Lock == b.Lock && a.Program != b.Program {
		list = append(list, "another version of its program")
	}
	if a.Base != b.Base {
		list = append(list, "another scenario that faults are added to")
	}
	differ("faults", strings.Join(a.Faults, ","), strings.Join(b.Faults, ","))
	differ("styles", strings.Join(a.Styles, ","), strings.Join(b.Styles, ","))
	differ("fencing modes", strings.Join(a.Fencing, ","), strings.Join(b.Fencing, ","))
	differ("properties", strings.Join(a.Properties, ","), strings.Join(b.Properties, ","))
	differ("drift", fmt.Sprint(a.Drift), fmt.Sprint(b.Drift))
	return list
}
