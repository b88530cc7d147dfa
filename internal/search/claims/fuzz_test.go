package claims_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/claims"
)

// FuzzGenerate makes a scenario of the fuzzer's bytes and plays it: no lock's code panics or goes on forever, no run is
// cut short, and compare-and-set protects the resource whatever happens. The checker's two judges look at every run,
// and it panics if they disagree.
func FuzzGenerate(f *testing.F) {
	var list []claims.Claim
	for _, c := range claims.Promises() {
		if strings.HasSuffix(c.Name, "-compare-and-set") {
			list = append(list, c)
		}
	}
	f.Add([]byte{})
	c := &counted{}
	defer c.runner.Close()
	f.Fuzz(func(t *testing.T, data []byte) {
		source := search.FromBytes(data)
		c.claim = &list[source.Below(int64(len(list)))]
		if accusation := c.play(t, source); accusation != "" {
			require.Fail(t, "compare-and-set did not protect the resource", "%s", accusation)
		}
	})
}
