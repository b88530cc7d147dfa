package search_test

import (
	"fmt"

	"github.com/locksim/locksim/internal/search"
)

// The same number draws the same scenario, on every machine.
func ExampleGenerate() {
	model := search.FaultModel{Lock: "set-nx-lua", Faults: []search.Kind{search.ClientPause}}
	scenario := search.Generate(search.Seeded(146), model)
	fmt.Printf("%s", scenario.YAML())
	// Output:
	// name: generated
	// title: A scenario drawn for set-nx-lua
	// lock: {algorithm: set-nx-lua}
	// clients:
	//   a: {sections: 2, again: 2.5s, retry: 1s, work: 9.999s}
	//   b: {start: 1s, again: 2.5s, retry: 2.5s, work: 100ms, write: 50ms}
	// resource: {fencing: none}
	// network: {latency: lan}
	// faults:
	//   - {before: {node: a, does: access, what: write}, nth: 2, pause: a, for: 10.001s}
	// styles: careless
	// until: 6m40s
	// seed: 0xd53e
}
