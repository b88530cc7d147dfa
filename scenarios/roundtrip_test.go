package scenarios

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/sim"
)

// bare returns the scenario without its positions in a file, which are not part of what it says.
func bare(s *Scenario) *Scenario {
	c := *s
	c.source = nil
	c.Variants = nil
	for _, v := range s.Variants {
		c.Variants = append(c.Variants, Variant{Name: v.Name, Scenario: bare(v.Scenario)})
	}
	return &c
}

func TestFaultsPrintAndParseAsInverses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := faults(deployments().Draw(t, "deployment"), []string{"gc"}).Draw(t, "fault")
		f.Name = rapid.SampledFrom([]string{"", "gc", "n"}).Draw(t, "name")
		again, err := ParseFault(f.String())
		if err != nil {
			t.Fatalf("%s is refused: %v", f, err)
		}
		require.Equal(t, f, again, "%s", f)
	})
}

func TestParseFaultRefusesWithPosition(t *testing.T) {
	_, err := ParseFault("{at: 1s, pawse: a}")
	require.ErrorContains(t, err, `fault:1:10: pawse: unknown field`)
	_, err = ParseFault("at")
	require.Error(t, err)
}

func TestGeneratedScenariosSurviveYAML(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := scenarioValues().Draw(t, "scenario")
		requireSurvives(t, s)
	})
}

func TestGeneratedVariantsSurviveYAML(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := scenarioValues().Draw(t, "scenario")
		for _, name := range []string{"one", "two"} {
			v := scenarioValues().Draw(t, name)
			v.Name = s.Name
			inOrderOf(s, v)
			s.Variants = append(s.Variants, Variant{Name: name, Scenario: v})
		}
		requireSurvives(t, s)
	})
}

// inOrderOf gives what is keyed by name the order that merging gives it: a variant adds at the end.
func inOrderOf(base, v *Scenario) {
	v.Clocks = reorder(base.Clocks, v.Clocks, func(c Clock) string { return c.Node })
	v.Measures = reorder(base.Measures, v.Measures, func(m MeasureBound) string { return m.Name })
}

func reorder[V any](base, list []V, name func(V) string) []V {
	var sorted []V
	take := func(wanted string) {
		for i, v := range list {
			if name(v) == wanted {
				sorted = append(sorted, v)
				list = append(list[:i:i], list[i+1:]...)
				return
			}
		}
	}
	for _, b := range base {
		take(name(b))
	}
	return append(sorted, list...)
}

func requireSurvives(t require.TestingT, s *Scenario) {
	text := string(s.YAML())
	again, err := Parse("generated.yaml", []byte(text))
	require.NoError(t, err, text)
	require.Equal(t, bare(s), bare(again), text)
	require.Equal(t, text, string(again.YAML()))
	requireSchemaAccepts(t, text)
}

func TestNamedScenariosSurviveYAML(t *testing.T) {
	all, err := All()
	require.NoError(t, err)
	for _, s := range all {
		requireSurvives(t, s)
		requireSchemaAccepts(t, string(embedded(s.Name)))
	}
}

func TestDefaultsAreLeftAwayAndFaultsStandOnALine(t *testing.T) {
	s, err := Parse("x.yaml", []byte(strings.Join([]string{
		"name: x", "lock: {ttl: 10s, algorithm: setnx}", "clients: {a: {count: 1}, b: {work: 2s}}",
		"faults: [{at: 1s, pause: a, for: 2s}]", "network: {latency: lan}", "story: >", "  Once", "  upon a time",
	}, "\n")))
	require.NoError(t, err)
	require.Equal(t, `name: x
story: Once upon a time
lock: {algorithm: setnx}
clients:
  a: {}
  b: {work: 2s}
network: {latency: lan}
faults:
  - {at: 1s, pause: a, for: 2s}
`, string(s.YAML()))
}

// parsedSchema is the schema as an editor reads it.
var parsedSchema = sync.OnceValue(func() (schema object) {
	if err := json.Unmarshal(Schema(), &schema); err != nil {
		panic(err)
	}
	return schema
})

func requireSchemaAccepts(t require.TestingT, text string) {
	schema := parsedSchema()
	var value any
	require.NoError(t, yaml.Unmarshal([]byte(text), &value))
	require.Empty(t, violations(schema, schema, value, "", 0), text)
}

func TestSchemaRefusesWhatIsNotAScenario(t *testing.T) {
	schema := parsedSchema()
	for _, text := range []string{
		"{name: x}",
		"{name: x, lock: {algorithm: y}, clients: {}}",
		"{name: x, lock: {algorithm: y}, clients: {a: {wrok: 1s}}}",
		"{name: x, lock: {algorithm: y}, clients: {a: {work: 1}}}",
		"{name: x, lock: {algorithm: y}, clients: {a: {}}, faults: [{at: 1s}]}",
		"{name: x, lock: {algorithm: y}, clients: {a: {}}, faults: [{at: 1s, nth: 2, pause: a}]}",
		"{name: x, lock: {algorithm: y}, clients: {a: {}}, until: null}",
		"{name: x, lock: {algorithm: y}, clients: {a: {}}, expect: {resource: {none: broken}}}",
		"{name: x, lock: {algorithm: y}, clients: {a: {}}, variants: [{name: v, set: {name: y}}]}",
	} {
		var value any
		require.NoError(t, yaml.Unmarshal([]byte(text), &value))
		require.NotEmpty(t, violations(schema, schema, value, "", 0), text)
	}
}

func TestActionsOfPackageSimAllHaveAField(t *testing.T) {
	for _, name := range sim.ActionNames() {
		_, ok := faultFields.field(name)
		require.True(t, ok, name)
	}
}

// TestNoEntryOfAnExpectCoversAnother holds what the comment of Expect says, of named scenarios and of generated ones.
func TestNoEntryOfAnExpectCoversAnother(t *testing.T) {
	check := func(t require.TestingT, s *Scenario) {
		for i, x := range s.Expect {
			for j, y := range s.Expect {
				require.False(t, i != j && x.covers(y), "%s: %v covers %v", s.Name, x, y)
			}
		}
	}
	all, err := All()
	require.NoError(t, err)
	for _, s := range all {
		check(t, s)
		for _, v := range s.Variants {
			check(t, v.Scenario)
		}
	}
	rapid.Check(t, func(t *rapid.T) { check(t, scenarioValues().Draw(t, "scenario")) })
}

// TestEntryThatCoversAnotherIsNotWritten shows why files may not have one: a more special one would be all that is left.
func TestEntryThatCoversAnotherIsNotWritten(t *testing.T) {
	none := history.Unfenced
	special := Expectation{Property: checker.Resource, Fencing: &none, Verdict: checker.Violated}
	general := Expectation{Property: checker.Resource, Verdict: checker.Held}
	require.True(t, general.covers(special))
	require.False(t, special.covers(general))
	s := parse(t, smallest)
	s.Expect = Expect{special, general}
	again := parse(t, string(s.YAML()))
	require.Equal(t, Expect{special}, again.Expect)
}
