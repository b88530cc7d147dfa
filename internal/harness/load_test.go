package harness_test

import "testing"

// TestRequestsAreThoseOfAnySecondAndOfLockWhileItLasts: what renews in a task that Lock has started sends as a holder; and a second may
// begin with any request.
func TestRequestsAreThoseOfAnySecondAndOfLockWhileItLasts(t *testing.T) {
	for _, text := range []string{
		`lock: {algorithm: watchdog, ttl: 10s, renew: 10ms}
network: {latency: 1ms}
clients: {a: {work: 3s}}
load: {holder: 50}
expect: {load: violated}
`, `lock: {algorithm: watchdog, ttl: 10s, renew: 10ms}
network: {latency: 1ms}
clients: {a: {work: 3s}, b: {start: 100ms, wait: 2s, retry: 200ms}}
load: {waiter: 50}
expect: {load: held}
`, `lock: {algorithm: set-nx-lua, ttl: 10s}
network: {latency: 1ms}
clients: {a: {work: 3s}, b: {start: 100ms, work: 1s, retry: 1ms}}
faults: [{at: 105ms, pause: b, for: 850ms}, {at: 1255ms, pause: b, for: 2s}]
load: {waiter: 70}
expect: {load: violated}
`,
	} {
		playStory(t, text)
	}
}
