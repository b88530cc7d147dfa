package scenarios

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

const smallest = "name: x\nlock: {algorithm: set-nx-lua}\nclients: {a: {work: 1s}}\n"

func parse(t *testing.T, text string) *Scenario {
	t.Helper()
	s, err := Parse("x.yaml", []byte(text))
	require.NoError(t, err)
	return s
}

func TestDefaultsAreFilledIn(t *testing.T) {
	require.Equal(t, &Scenario{
		Name:     "x",
		Lock:     Lock{Algorithm: "set-nx-lua", TTL: 10 * time.Second, Key: "lock"},
		Servers:  Servers{Kind: "redis", Masters: 1, Disk: "honest"},
		Clients:  []Client{{Name: "a", Count: 1, Tasks: 1, Sections: 1, Wait: math.MaxInt64, Work: time.Second}},
		Resource: Resource{Registers: 1},
		Bounds:   Bounds{Steps: 1_000_000, Messages: 1_000_000},
		Seed:     1,
	}, bare(parse(t, smallest)))
}

// The format's first example, in the form in which it was designed.
func TestTheSketchOfTheFormatParses(t *testing.T) {
	s := parse(t, `name: redlock-clock-jump
title: One node's clock jumps, and a second client reaches a majority
story: >
  Both hold the lock.
source: Kleppmann, "How to do distributed locking" (2016)
lock: {algorithm: redlock, ttl: 10s}
servers: {kind: redis, masters: 5}
clients:
  a: {work: 3s}
  b: {start: 1s, work: 1s}
resource: {fencing: [none, token-equality]}
faults:
  - {at: 0s, cut: {from: a, to: [redis-4, redis-5]}}
  - {after: {node: a, does: acquired}, plus: 100ms, clock: redis-3, step: 11s}
expect: {mutual-exclusion: violated, resource: {none: violated, token-equality: held}}
`)
	require.Equal(t, []sim.Fault{
		{Action: sim.Action{Kind: sim.Cut, Link: sim.Link{From: []string{"a"}, To: []string{"redis-4", "redis-5"}}}},
		{
			Trigger: sim.Trigger{When: sim.After, Step: sim.Pattern{Node: "a", Does: trace.Acquired}, Plus: 100 * time.Millisecond},
			Action:  sim.Action{Kind: sim.SetClock, Node: "redis-3", Step: 11 * time.Second},
		},
	}, s.Faults)
	require.Len(t, s.Cases(), 2)
	v, ok := s.Cases()[1].Expected(checker.Resource)
	require.True(t, ok)
	require.Equal(t, checker.Held, v)
}

func TestEveryFormOfEveryFieldIsRead(t *testing.T) {
	s := parse(t, `name: x
lock: {algorithm: redlock, ttl: 1m30s, renew: 3s, timeout: 50ms, key: "my: key"}
servers: {masters: 3, persistence: everysec, disk: lies}
clients:
  b: {count: 2, style: careful, wait: try, again: 1s, retry: 200ms, work: forever, read: 1s, write: 2s, think: 3s}
  a: {wait: 5s, retry: {delay: 1s, jitter: 2s, tries: 3}}
resource: {fencing: none, registers: 2, latency: 1ms}
network:
  latency: [1ms, 2ms]
  links:
    - {from: a, to: "redis-*", oneway: true, latency: lan}
    - {from: [a, b-1], to: storage, latency: [{share: 0%, delay: 1ms}, {share: 99.5%, delay: 2ms}, {share: 100%, delay: 3ms}]}
clocks: {redis-1: {offset: -1s, rate: 5000ppm}, a: {rate: "-0.5%"}}
styles: [careless, careful]
expect: {mutual-exclusion: {careful: {none: held}, careless: violated}}
measures: {refusals: 3, wait-max-ns: {min: 1s}}
progress: 30s
seed: 0x2a
bounds: {steps: 10}
`)
	b, a := s.Clients[0], s.Clients[1]
	require.Equal(t, []string{"b-1", "b-2"}, b.Names())
	require.Equal(t, history.Careful, *b.Style)
	require.Equal(t, time.Duration(0), b.Wait)
	require.Equal(t, Retry{Delay: 200 * time.Millisecond}, b.Retry)
	require.True(t, b.Hangs)
	require.Equal(t, 2*time.Second, *b.Write)
	require.Equal(t, Retry{Delay: time.Second, Jitter: 2 * time.Second, Tries: 3}, a.Retry)
	require.Equal(t, 5*time.Second, a.Wait)
	require.Equal(t, "my: key", s.Lock.Key)
	require.Equal(t, []history.Fencing{history.Unfenced}, s.Resource.Fencing)
	require.Equal(t, sim.Constant(time.Millisecond), s.Resource.Latency)
	require.Equal(t, sim.UniformLatency(time.Millisecond, 2*time.Millisecond), s.Network.Latency)
	require.Equal(t, sim.LAN(), s.Network.Links[0].Latency)
	require.True(t, s.Network.Links[0].OneWay)
	require.Equal(t, int64(995_000), s.Network.Links[1].Latency[1].Share)
	require.Equal(t, []Clock{{Node: "redis-1", Offset: -time.Second, Rate: 5000}, {Node: "a", Rate: -5000}}, s.Clocks)
	require.Equal(t, uint64(0x2a), s.Seed)
	none, careful, careless := history.Unfenced, history.Careful, history.Careless
	require.Equal(t, Expect{
		{Property: checker.MutualExclusion, Fencing: &none, Style: &careful, Verdict: checker.Held},
		{Property: checker.MutualExclusion, Style: &careless, Verdict: checker.Violated},
	}, s.Expect)
	three, second := int64(3), int64(time.Second)
	require.Equal(t, []MeasureBound{{Name: "refusals", Min: &three, Max: &three}, {Name: "wait-max-ns", Min: &second}}, s.Measures)
}

func TestVariantsAreCompleteScenarios(t *testing.T) {
	s := parse(t, smallest+`expect: {mutual-exclusion: held, resource: held}
measures: {refusals: 0}
variants:
  - {name: as-it-is}
  - name: other
    set: {lock: {ttl: 3s}, clients: {a: {read: 500ms}, b: {}}, faults: [{at: 3s, crash: b}]}
    expect: {resource: violated}
    measures: {refusals: null, overtakes-max: 1}
`)
	require.Len(t, s.Variants, 2)
	same, other := s.Variants[0].Scenario, s.Variants[1].Scenario
	require.Empty(t, other.Variants)
	require.Equal(t, s.Lock, same.Lock)
	require.Equal(t, 3*time.Second, other.Lock.TTL)
	require.Equal(t, "set-nx-lua", other.Lock.Algorithm)
	require.Equal(t, time.Second, other.Clients[0].Work, "mappings are merged")
	require.Equal(t, 500*time.Millisecond, other.Clients[0].Read)
	require.Equal(t, "b", other.Clients[1].Name)
	require.Len(t, other.Faults, 1)
	require.Equal(t, Expect{
		{Property: checker.MutualExclusion, Verdict: checker.Held}, {Property: checker.Resource, Verdict: checker.Violated},
	}, other.Expect)
	require.Equal(t, "overtakes-max", other.Measures[0].Name)
	require.Equal(t, "refusals", same.Measures[0].Name)
}

func TestErrorfPointsAtTheField(t *testing.T) {
	s := parse(t, smallest+`clocks:
  redis-1: {rate: 1%}
faults: [{at: 1s, pause: a}]
variants:
  - {name: v, set: {lock: {algorithm: redlok}}, expect: {resource: held}}
`)
	for _, c := range []struct{ field, want string }{
		{"lock.algorithm", "x.yaml:2:19: lock.algorithm: no"},
		{"lock.ttl", "x.yaml:2:7: lock.ttl: no"},
		{"clients.a.work", "x.yaml:3:21: clients.a.work: no"},
		{"clocks.redis-1.rate", "x.yaml:5:19: clocks.redis-1.rate: no"},
		{"clocks", "x.yaml:4:1: clocks: no"},
		{"faults[0].pause", "x.yaml:6:26: faults[0].pause: no"},
		{"faults[0].action.node", "x.yaml:6:10: faults[0].action.node: no"},
		{"resource.fencing[1]", "x.yaml:1:1: resource.fencing[1]: no"},
	} {
		require.EqualError(t, s.Errorf(c.field, "%s", "no"), c.want)
	}
	require.EqualError(t, s.Variants[0].Scenario.Errorf("lock.algorithm", "no"), "x.yaml:8:39: lock.algorithm: no")
	require.EqualError(t, (&Scenario{}).Errorf("lock.algorithm", "no"), "lock.algorithm: no")
}

func TestErrorsAreFoundSinglyAndTogether(t *testing.T) {
	_, err := Parse("x.yaml", []byte("name: X\nclients: {}\nlock: {}\n"))
	var one *Error
	require.ErrorAs(t, err, &one)
	require.Equal(t, "name", one.Field)
	require.Equal(t, 7, one.Column)
	var all Errors
	require.ErrorAs(t, err, &all)
	require.Len(t, all, 3)
}

func TestBytesThatAreNoTextAreRefused(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"name: x\nlock: \xff\n", "x.yaml:2:7: not UTF-8; want text in UTF-8"},
		{"name: é\x00", "x.yaml:1:8: an invisible character stands here (U+0000); want visible text"},
		{"name: x\rlock: y", "x.yaml:1:8: an invisible character stands here (U+000D); want visible text"},
		{"name: \u2028", "x.yaml:1:7: an invisible character stands here (U+2028); want visible text"},
		{strings.Repeat("#", maxSize+1), "x.yaml:1:1: the file has 1048577 bytes; want at most 1048576"},
		{strings.Repeat("[", maxSize-1), "x.yaml:1:1: no YAML: exceeded max depth of 10000"},
		{smallest + "title: \"\\u0007\"\n", "x.yaml:4:8: title: \"\\a\" has characters that cannot be seen, or more than one line; want a line of text"},
		{smallest + "title: |\n  a\n  b\n", "x.yaml:4:8: title: \"a\\nb\" has characters that cannot be seen, or more than one line; want a line of text"},
	} {
		_, err := Parse("x.yaml", []byte(c.text))
		require.EqualError(t, err, c.want)
	}
	parse(t, strings.ReplaceAll(smallest, "\n", "\r\n"))
	parse(t, "\ufeff"+smallest)
}

func TestHostileFilesAreRefusedInLittleRoom(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(smallest)
	for i := range 20_000 {
		b.WriteString(strings.Repeat("z", i%50+1) + string(rune('a'+i%26)) + ": [x]\n")
	}
	_, err := Parse("x.yaml", b.Bytes())
	var all Errors
	require.ErrorAs(t, err, &all)
	require.Len(t, all, maxProblems+1)
}

func TestFilesThatWouldTakeLongAreRefused(t *testing.T) {
	crowd := strings.ReplaceAll(smallest, "work: 1s", "count: 90000")
	many := crowd + "expect: {resource: held}\nvariants:\n" + strings.Repeat("  - {name: v}\n", 60)
	_, err := Parse("x.yaml", []byte(many))
	require.EqualError(t, err, "x.yaml:5:1: variants: 60 variants of 90017 values and processes; want fewer of either")
	globs := crowd + "faults:\n"
	for i := range 12 {
		globs += fmt.Sprintf("  - {at: 1s, cut: {from: \"a*%d*\", to: storage}}\n", i)
	}
	_, err = Parse("x.yaml", []byte(globs))
	require.EqualError(t, err, "x.yaml:4:1: faults: too many globs for 90002 nodes; want fewer of either")
	var more strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&more, ", b%d: {}", i)
	}
	_, err = Parse("x.yaml", []byte(strings.ReplaceAll(smallest, "work: 1s}", "work: 1s}"+more.String())))
	require.ErrorContains(t, err, "clients: a mapping of 1001; want at most 1000 entries")
}

func TestNearest(t *testing.T) {
	names := []string{"redlock", "redlock-clock-jump", "set-nx-lua", "setnx", "storage"}
	for _, c := range []struct{ name, want string }{
		{"redlok", "redlock"}, {"rdelock", "redlock"}, {"sentx", "setnx"}, {"set-nx-lau", "set-nx-lua"}, {"clock-jump", "redlock-clock-jump"},
		{"zookeeper", ""}, {"", ""}, {"x", ""}, {strings.Repeat("redlock", 20), ""},
	} {
		require.Equal(t, c.want, Nearest(c.name, names), c.name)
	}
	require.Empty(t, Nearest("redlock", nil))
	require.Equal(t, "pause", Nearest("paus", []string{"plus", "pause", "nth"}), "a word that is cut short is taken for its whole")
}

func TestRatiosAreReadByIntegers(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
	}{
		{"50%", 500_000}, {"0.5%", 5000}, {"99.99%", 999_900}, {"0.0001%", 1}, {"100%", million}, {"-0.5025%", -5025}, {"5000ppm", 5000}, {"+7ppm", 7},
	} {
		v, ok := parseRatio(c.text)
		require.True(t, ok, c.text)
		require.Equal(t, c.want, v, c.text)
	}
	for _, text := range []string{"", "%", "5", "5.5ppm", "0.00001%", "1e3ppm", "5 %", "99999999%", ".5%"} {
		_, ok := parseRatio(text)
		require.False(t, ok, text)
	}
	for _, c := range []struct {
		v    int64
		want string
	}{{0, "0%"}, {1, "0.0001%"}, {500_000, "50%"}, {million, "100%"}, {999_900, "99.99%"}} {
		require.Equal(t, c.want, percent(c.v))
	}
}

// TestAKeyThatStandsTwiceIsReportedWhereverItStands: of the two the first is read on, in variants too.
func TestAKeyThatStandsTwiceIsReportedWhereverItStands(t *testing.T) {
	_, err := Parse("x.yaml", []byte(`name: x
lock: {algorithm: set-nx-lua, ttl: 10s}
clients: {a: {work: 1s, work: 2s}, b: {}}
expect: {mutual-exclusion: held, mutual-exclusion: violated}
variants:
  - {name: v, set: {lock: {ttl: 1s, ttl: 2s}}, expect: {mutual-exclusion: violated, mutual-exclusion: held}}
`))
	require.EqualError(t, err, `x.yaml:3:25: clients.a.work: given a second time, first on line 3; want one of them
x.yaml:4:34: expect.mutual-exclusion: given a second time, first on line 4; want one of them
x.yaml:6:37: variants[0].set.lock.ttl: given a second time, first on line 6; want one of them
x.yaml:6:85: variants[0].expect.mutual-exclusion: given a second time, first on line 6; want one of them`)
}
