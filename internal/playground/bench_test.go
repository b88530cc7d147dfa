package playground

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkDragging answers what a page asks while a number is dragged. A page has 16 ms for this and for drawing, in WebAssembly,
// which is two to three times slower.
func BenchmarkDragging(b *testing.B) {
	for _, name := range []string{"fencing-33-34", "lease-overrun", "failover-lost-key", "zk-gc-pause", "redlock-clock-jump"} {
		b.Run(name, func(b *testing.B) {
			var e Engine
			q, err := json.Marshal(Request{Do: "play", Text: textOf(b, name), Outline: true, Quick: true, Modes: []string{"none"}, Edits: []Edit{{Path: "lock.ttl", Number: 11e9}}})
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				e.Answer(q)
			}
		})
	}
}
