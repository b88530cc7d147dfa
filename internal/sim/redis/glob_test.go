package redis

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPatternsMatchAsInRedis(t *testing.T) {
	for _, c := range []struct {
		pattern string
		matches []string
		not     []string
	}{
		{"*", []string{"", "a"}, nil},
		{"", []string{""}, []string{"a"}},
		{"news", []string{"news"}, []string{"new", "newss", "News"}},
		{"ne*s", []string{"nes", "news", "nenes"}, []string{"new", "n"}},
		{"a**b*", []string{"ab", "axbx"}, []string{"a", "ba"}},
		{"n?ws", []string{"news"}, []string{"nws", "neews"}},
		{"n[ea]ws", []string{"news", "naws"}, []string{"nows"}},
		{"n[^e]ws", []string{"nows"}, []string{"news"}},
		{"n[a-c]ws", []string{"nbws"}, []string{"news"}},
		{"n[c-a]ws", []string{"nbws"}, []string{"news"}},
		{"n[\\]]", []string{"n]"}, []string{"n\\"}},
		{"n[ab", []string{"na", "nb"}, []string{"nc", "n"}},
		{"\\*", []string{"*"}, []string{"a"}},
	} {
		for _, text := range c.matches {
			require.True(t, matches(c.pattern, text), "%q %q", c.pattern, text)
		}
		for _, text := range c.not {
			require.False(t, matches(c.pattern, text), "%q %q", c.pattern, text)
		}
	}
}
