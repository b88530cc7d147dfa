package parameter

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVariationsAreListsAndRanges(t *testing.T) {
	for text, want := range map[string]string{
		"lock.ttl=4s,8s, 16s":              "4s 8s 16s",
		"lock.ttl=4s..16s":                 "4s 6s 8s 10s 12s 14s 16s",
		"lock.ttl=4s..16s/3":               "4s 8s 12s 16s",
		"lock.ttl=1s..2s/3":                "1s 1.333s 1.666s 2s",
		"lock.ttl=1ms..1ms,2s":             "",
		"lock.ttl=1s,2s..4s/2,8s":          "1s 2s 3s 4s 8s",
		"lock.ttl=1m..2m/2":                "1m 1m30s 2m",
		"lock.ttl=1ns..4ns":                "1ns 2ns 3ns 4ns",
		"clients.a.count=1..4":             "1 2 3 4",
		"clients.a.count=-2..2/2":          "-2 0 2",
		"clocks.a.rate=0%..1%/4":           "0% 0.25% 0.5% 0.75% 1%",
		"clocks.a.rate=-0.5%..0.5%/2":      "-0.5% 0% 0.5%",
		"clocks.a.rate=100ppm..400ppm/3":   "100ppm 200ppm 300ppm 400ppm",
		"network.latency=[1ms, 2ms],lan":   "[1ms, 2ms] lan",
		`lock.key="a,b",c`:                 `"a,b" c`,
		"lock.algorithm=../mine,redlock":   "../mine redlock",
		"lock.algorithm=redsync@v4.15.0":   "redsync@v4.15.0",
		"lock.ttl=16s..4s":                 "",
		"lock.ttl=4s..x":                   "",
		"lock.ttl=4s..16":                  "",
		"lock.ttl=4s..16s/0":               "",
		"lock.ttl=4s..16s/x":               "",
		"lock.ttl=4s,,8s":                  "",
		"lock.ttl=":                        "",
		"lock.ttl":                         "",
		"=4s":                              "",
		"lock.ttl=4s,4s":                   "",
		"lock.ttl=4s,4000ms":               "",
		"clients.a.start=0,0s":             "",
		"clocks.a.rate=1%,1.0%":            "",
		"clients.a.count=1,1s":             "1 1s",
		"clients.a.count=1..100/99,101":    "",
		"lock.ttl=-2562047h..2562047h":     "-2562047h..2562047h", // no numbers that anything allows
		"lock.ttl=-9223372036854775808..0": "",
	} {
		v, err := ParseVariation(text)
		if want == "" {
			require.Error(t, err, text)
			continue
		}
		require.NoError(t, err, text)
		require.Equal(t, want, strings.Join(v.Values, " "), text)
	}
}

func TestValuesAreOrdered(t *testing.T) {
	for text, want := range map[string]bool{
		"4s,8s,16s": true, "0,4s,1m": true, "9s,1500ms,0": true, "1,2,10": true, "-0.5%,0%,1%": true, "4s": false, "4s,4s": false,
		"8s,4s,16s": false, "set-nx-lua,redlock": false, "true,false": false, "lan,1ms": false, "4,8s": false, "[1ms, 2ms],[3ms, 4ms]": false,
	} {
		require.Equal(t, want, Ordered(entries(text)), text)
	}
}
