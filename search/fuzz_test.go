package search_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/search"
)

// FuzzGenerate makes a scenario of the fuzzer's bytes and plays it: no lock's code panics or goes on for ever, no run is
// cut short, and compare-and-set protects the resource whatever happens. The checker's two judges look at every run,
// and it panics if they disagree.
func FuzzGenerate(f *testing.F) {
	var claims []search.Claim
	for _, c := range search.Promises() {
		if strings.HasSuffix(c.Name, "-compare-and-set") {
			claims = append(claims, c)
		}
	}
	f.Add([]byte{})
	c := &counted{}
	defer c.runner.Close()
	f.Fuzz(func(t *testing.T, data []byte) {
		source := search.FromBytes(data)
		c.claim = &claims[source.Below(int64(len(claims)))]
		if accusation := c.play(t, source); accusation != "" {
			require.Fail(t, "compare-and-set did not protect the resource", "%s", accusation)
		}
	})
}
