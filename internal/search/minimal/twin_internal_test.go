package minimal

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/scenarios"
)

// TestTheReferenceMeetsAFaultAtItsOwnFirstMessage has a reference lock meet what hit a message that only the accused sends.
func TestTheReferenceMeetsAFaultAtItsOwnFirstMessage(t *testing.T) {
	s, err := scenarios.Parse("x.yaml", []byte(`
name: x
title: The third answer of the second server is lost
lock: {algorithm: zk-sequential}
servers: {kind: zookeeper}
clients: {a: {}}
faults:
  - {before: {node: zk-2, does: reply, what: look, peer: a}, nth: 3, break: this}
  - {after: {node: a, does: acquired}, nth: 2, pause: a, for: 1s}
`))
	require.NoError(t, err)
	require.True(t, hitTheFirst(s))
	require.Contains(t, string(s.YAML()), `{before: {node: "zk-*", does: reply, what: look, peer: a}, break: this}`)
	require.Contains(t, string(s.YAML()), `{after: {node: a, does: acquired}, nth: 2, pause: a, for: 1s}`, "which is no message")
	require.False(t, hitTheFirst(s), "it does already")
}
