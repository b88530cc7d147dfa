package scenarios_test

import (
	"fmt"

	"github.com/locksim/locksim/scenarios"
)

// A scenario is data. Each variant, client style and fencing mode of it is a case; what is expected may differ.
func ExampleParse() {
	s, err := scenarios.Parse("pause.yaml", []byte(`
name: pause
lock: {algorithm: set-nx-lua-fenced, ttl: 10s}
clients: {a: {work: 1s}, b: {start: 500ms}}
resource: {fencing: [none, fenced-write]}
faults: [{before: {node: a, does: access, what: write}, pause: a, for: 15s}]
expect: {mutual-exclusion: violated, resource: {none: violated, fenced-write: held}}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range s.Cases() {
		fmt.Println(c.Fencing, c.Scenario.Faults[0])
	}
	_, err = scenarios.Parse("pause.yaml", []byte("name: pause\nclients: {a: {}}\nlock: {algorithm: set-nx-lua, tll: 10s}\n"))
	fmt.Println(err)
	// Output:
	// none {before: {node: a, does: access, what: write}, pause: a, for: 15s}
	// fenced-write {before: {node: a, does: access, what: write}, pause: a, for: 15s}
	// pause.yaml:3:31: lock.tll: unknown field; want one of algorithm, ttl, key, renew, timeout, acks, library or lock-delay; did you mean "ttl"?
}
