package locktest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/scenarios"
)

// Outcome is what came of one case of a scenario.
type Outcome struct {
	Variant, Style, Fencing string
	Digest                  uint64   // of the run's trace
	Violated                []string // the properties that the run violates, in the checker's order
	_                       struct{}
}

func (o Outcome) String() string {
	violated := "nothing is violated"
	if len(o.Violated) > 0 {
		violated = strings.Join(o.Violated, ", ") + " violated"
	}
	return fmt.Sprintf("digest %#x, %s", o.Digest, violated)
}

func (o Outcome) isOf(c Outcome) bool {
	return o.Variant == c.Variant && o.Style == c.Style && o.Fencing == c.Fencing
}

// Play plays a scenario, and fails the test where something else comes of one of its cases than is wanted: the run of another digest
// is another run. Each case is played once, with the scenario's own lock and seed. File is the name that errors mention. The
// playground writes such tests.
func Play(t *testing.T, file, text string, want ...Outcome) {
	t.Helper()
	problems, err := unlike(file, text, want)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Error(problem)
	}
}

// unlike says how what comes of a scenario is not what is wanted.
func unlike(file, text string, want []Outcome) (problems []string, err error) {
	got, err := Outcomes(file, text)
	if err != nil {
		return nil, err
	}
	for _, w := range want {
		called := strings.TrimSpace(fmt.Sprintf("%s %s clients, fencing %s", w.Variant, w.Style, w.Fencing))
		i := slices.IndexFunc(got, w.isOf)
		switch {
		case i < 0:
			problems = append(problems, fmt.Sprintf("%s: the scenario has no such case (%s)", file, called))
		case got[i].Digest != w.Digest || !slices.Equal(got[i].Violated, w.Violated):
			problems = append(problems, fmt.Sprintf("%s (%s): want %v; got %v\nlocksim run %s shows the run", file, called, w, got[i], file))
		}
	}
	return problems, nil
}

// Outcomes plays a scenario as [Play] does, and returns what comes of each case.
func Outcomes(file, text string) ([]Outcome, error) {
	s, err := scenarios.Parse(file, []byte(text))
	if err != nil {
		return nil, err
	}
	var r harness.Runner
	defer r.Close()
	var list []Outcome
	for _, c := range s.Cases() {
		plan, err := harness.Compile(c, harness.Options{})
		if err != nil {
			return nil, err
		}
		result, err := r.Run(plan, c.Scenario.Seed, false)
		if err != nil {
			return nil, err
		}
		o := Outcome{Variant: c.Variant, Style: c.Style.String(), Fencing: c.Fencing.String(), Digest: result.Digest}
		for p := range checker.PropertyCount {
			if result.Report.Verdicts[p] == checker.Violated {
				o.Violated = append(o.Violated, p.String())
			}
		}
		list = append(list, o)
	}
	return list, nil
}
