package wording

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTimesAreShort(t *testing.T) {
	for text, d := range map[string]time.Duration{
		"0s": 0, "999ns": 999, "1.654ms": 1654321, "10.0017s": 10001654321, "65.0147s": 65*time.Second + 14735290,
		"400h": 400 * time.Hour, "999h0m10.0082s": 999*time.Hour + 10008200*time.Microsecond, "10h30m1.5s": 10*time.Hour + 30*time.Minute + 1500*time.Millisecond,
		"312µs": 312 * time.Microsecond, "-1.5s": -1500 * time.Millisecond, "90s": 90 * time.Second, "1ms": time.Millisecond - 1,
	} {
		require.Equal(t, text, Precise(d))
	}
	require.Equal(t, "from 10.015s to 65.0147s (1.0019s) by redis-3 of lease-10s",
		Shortened("from 10.015023256s to 1m5.01473529s (1.00188658s) by redis-3 of lease-10s"))
	require.Equal(t, "a (acquisition 1, token 0x100000004) and b (acquisition 2, token 4294967295)",
		Shortened("a (acquisition 1, token 4294967300) and b (acquisition 2, token 4294967295)"))
}
