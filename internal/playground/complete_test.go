package playground

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/locksim/locksim/scenarios"
)

// TestWordsAreCompleted writes at a | in the text of a scenario.
func TestWordsAreCompleted(t *testing.T) {
	t.Parallel()
	var e Engine
	text := textOf(t, Opens)
	ask(t, &e, Request{Do: "play", Text: text})
	for _, x := range []struct{ written, word, has, hasNot string }{
		{"fau|", "fau", "faults: ", "lock: "},
		{"|", "", "clients: ", "algorithm: "},
		{"lock: {alg|", "alg", "algorithm: ", "ttl: "},
		{"lock: {ttl: 10s, |", "", "algorithm: ", "ttl: "},
		{"lock: {algorithm: set-nx-lua-f|", "set-nx-lua-f", "set-nx-lua-fenced", "set-nx-lua"},
		{"lock:\n  |", "", "algorithm: ", "lock: "},
		{"lock:\n  algorithm: |", "", "redlock", "zk-sequential"},
		{"faults:\n  - {before: {node: a, does: |", "", "access", "b"},
		{"faults:\n  - {at: 1s, pa|", "pa", "pause: ", "crash: "},
		{"faults:\n  - {at: 1s, pause: |", "", "redis-1", "redis-2"},
		{"faults:\n- at: 1s\n  |", "", "crash: ", "faults: "},
		{"faults:\n  - {at: 1s, cut: {from: a, to: [redis-1, |", "", "b", "pause: "},
		{"faults: [\n  {at: 1s, break: {from: a, to: b}, how: |", "", "rst", "fin: "},
		{"resource: {fencing: [none, |", "", "fenced-write", "fencing: "},
		{"resource: {fencing: fenced-|", "fenced-", "fenced-write", "none"},
		{"styles:\n  - |", "", "careful", "styles: "},
		{"clients:\n  a: {wo|", "wo", "work: ", "start: "},
		{"clients:\n  a:\n    work: 1s\n    |", "", "start: ", "clients: "},
		{"clients: # {\n  a: {work: 1s} # {\nlo|", "lo", "lock: ", "clients: "},
		{"expect: {resource: {none: |", "", "violated", "none: "},
		{"variants:\n  - name: x\n    set: {lock: {|", "", "ttl: ", "variants: "},
		{"story: >\n  pau|", "", "", "pause: "},
		{"title: 'a, {b: |", "", "", "b: "},
	} {
		before, _, _ := strings.Cut(x.written, "|")
		a := ask(t, &e, Request{Do: "complete", Text: text + before, Before: before})
		var words []string
		for _, w := range a.Words {
			words = append(words, w.Text)
		}
		if x.has != "" {
			require.Equal(t, x.word, a.Word, x.written)
			require.Contains(t, words, x.has, x.written)
		} else {
			require.Empty(t, words, x.written)
		}
		require.NotContains(t, words, x.hasNot, x.written)
	}
}

// TestCompletionTakesAnyText completes all beginnings of a named scenario, and text that is none.
func TestCompletionTakesAnyText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var e Engine
		text := textOf(t, rapid.SampledFrom(scenarios.Names()).Draw(t, "scenario"))
		before := text[:rapid.IntRange(0, len(text)).Draw(t, "at")] + rapid.StringOf(rapid.SampledFrom([]rune("{}[]:, \n-#'\"a>"))).Draw(t, "more")
		ask(t, &e, Request{Do: "complete", Text: before, Before: before})
	})
}
