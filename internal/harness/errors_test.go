package harness_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// TestErrorsThatAreNamedAreAnswered has each error that a scenario may name for ZooKeeper be what a client is answered.
func TestErrorsThatAreNamedAreAnswered(t *testing.T) {
	for _, name := range scenarios.Kind("zookeeper").Facts().Errors {
		s, err := scenarios.Parse("x.yaml", fmt.Appendf(nil, `name: x
lock: {algorithm: zk-ephemeral}
servers: {kind: zookeeper}
clients: {a: {wait: try}}
faults: [{before: {node: "zk-*", does: execute, what: acquire}, error: %s}]
`, name))
		require.NoError(t, err)
		result := playKeeping(t, s, true)
		require.True(t, slices.ContainsFunc(result.Events, func(e trace.Event) bool {
			return e.Does == trace.Reply && strings.EqualFold(strings.ReplaceAll(e.Detail, " ", ""), name)
		}), name)
	}
}
