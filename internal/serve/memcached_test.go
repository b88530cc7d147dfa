package serve_test

import (
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/real"
	"github.com/locksim/locksim/internal/serve"
)

// A script is what a client sends, in pieces.
type script []string

// memcachedScripts are of what a library sends, and of what is malformed.
var memcachedScripts = map[string]script{
	"values and flags":     {"set k 42 0 3\r\nabc\r\nget k\r\n", "gets k\r\ncas k 7 0 1 1\r\nx\r\ncas k 7 0 1 1\r\ny\r\ngets k other\r\n"},
	"several keys":         {"set a 0 0 1\r\n1\r\nset b 0 0 1\r\n2\r\n", "get a none b\r\nget none\r\ngets b a\r\n"},
	"add and replace":      {"replace k 0 0 1\r\n1\r\nadd k 0 0 1\r\n1\r\nadd k 0 0 1\r\n2\r\nreplace k 1 0 1\r\n3\r\nget k\r\n"},
	"counting":             {"incr n 1\r\nset n 5 0 2\r\n10\r\nincr n 5\r\ndecr n 10\r\nget n\r\ndecr n 100\r\ngets n\r\nincr n 1000\r\nget n\r\n"},
	"counting around":      {"set n 0 0 20\r\n18446744073709551615\r\nincr n 2\r\nget n\r\nset n 0 0 1\r\na\r\nincr n 1\r\nincr n -1\r\nincr n x\r\n"},
	"nothing as a number":  {"set n 0 0 0\r\n\r\nincr n 1\r\nset n 0 0 2\r\n 1\r\nincr n 1\r\nset n 0 0 2\r\n1 \r\nincr n 1\r\nget n\r\nset n 0 0 2\r\n+1\r\nincr n 1\r\nset n 0 0 4\r\n1 xy\r\nincr n 1\r\nget n\r\n"},
	"touch and delete":     {"touch k 10\r\nset k 0 0 1\r\n1\r\ntouch k 10\r\ntouch k -1\r\nget k\r\ndelete k\r\nset k 0 0 1\r\n1\r\ndelete k 0\r\ndelete k 5\r\n"},
	"an end in the past":   {"set k 0 -1 1\r\n1\r\nget k\r\nset k 0 0 1\r\n1\r\ngets k\r\ncas k 0 -1 0 2\r\n\r\nget k\r\n"},
	"without an answer":    {"set k 0 0 1 noreply\r\n1\r\nadd k 0 0 1 noreply\r\n2\r\ndelete none noreply\r\nincr k 1 noreply\r\nget k\r\ntouch k 0 noreply\r\nversion\r\n"},
	"in pieces":            {"se", "t k 0 0 ", "6\r", "\na\r", "\nb c\r\nge", "t k\r\n"},
	"only line feeds":      {"set k 0 0 1\n1\r\nget k\nversion\n"},
	"unknown":              {"nothing\r\n\r\nGET k\r\n get  k \r\nget\r\ngets\r\nset k\r\nset k 0 0\r\ndelete\r\ntouch k\r\nincr k\r\ncas k 0 0 1\r\n"},
	"no numbers":           {"set k x 0 1\r\nset k 0 y 1\r\nset k 0 0 z\r\nset k 0 0 -1\r\ncas k 0 0 1 z\r\nset k 4294967296 0 1\r\ntouch k x\r\n"},
	"the end is missing":   {"set k 0 0 3\r\nabcdef\r\nget k\r\nset k 0 0 3\r\nabc  set\r\nget k\r\nversion\r\n"},
	"long keys":            {"get " + strings.Repeat("k", 250) + "\r\nget " + strings.Repeat("k", 251) + "\r\ndelete " + strings.Repeat("k", 251) + "\r\nversion\r\n"},
	"a long key to store":  {"set " + strings.Repeat("k", 251) + " 0 0 1\r\n1\r\nversion\r\n"},
	"too large":            {"set k 0 0 1\r\n1\r\nset k 0 0 2000000\r\n" + strings.Repeat("v", 2000000) + "\r\nversion\r\n"},
	"verbosity":            {"verbosity 1\r\nverbosity\r\nversion\r\n"},
	"quits":                {"version\r\nquit\r\nversion\r\n"},
	"spaces and many keys": {"set k 0 0 1\r\n1\r\nget " + strings.Repeat("none ", 60) + "k\r\n"},
}

// answers sends a script, and returns all that is answered until the connection ends, or what comes after the script is answered.
func (s script) answers(t require.TestingT, address string) string {
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	for _, piece := range append(slices.Clone(s), "version\r\n") {
		_, _ = conn.Write([]byte(piece)) // it may have been closed
	}
	var all []byte
	for b := make([]byte, 4096); strings.Count(string(all), "VERSION") <= strings.Count(strings.Join(s, ""), "version"); {
		n, err := conn.Read(b)
		all = append(all, b[:n]...)
		if err != nil {
			require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
			return string(all) + "(closed)"
		}
	}
	return string(all)
}

// TestMemcachedAnswersScriptsAsTheRealOneDoes sends the same bytes to both, and compares all that they answer.
func TestMemcachedAnswersScriptsAsTheRealOneDoes(t *testing.T) {
	h, err := real.NewHost()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	for name, sent := range memcachedScripts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := h.Memcached(strings.ReplaceAll(name, " ", "-"))
			if err != nil {
				t.Skip(err)
			}
			require.Equal(t, sent.answers(t, s.Address), sent.answers(t, memcachedHere(t)))
		})
	}
}

// TestWhatIsNotSimulatedLeavesTheClientInStep has commands refused that carry a value.
func TestWhatIsNotSimulatedLeavesTheClientInStep(t *testing.T) {
	sent := script{"append k 0 0 5\r\nhello\r\nms k 5\r\nhello\r\nmg k v\r\nstats\r\nget k\r\n"}
	require.Equal(t, "SERVER_ERROR append is not simulated\r\nSERVER_ERROR ms is not simulated\r\nSERVER_ERROR mg is not simulated\r\n"+
		"SERVER_ERROR stats is not simulated\r\nEND\r\nVERSION 1.6.18\r\n", sent.answers(t, memcachedHere(t)))
}

func memcachedHere(t *testing.T) string {
	w, err := serve.Memcached(1, "127.0.0.1:0")
	return served(t, w, err)[0]
}

// TestServersOfWhichThereIsOneAnswerTheirClients asks each for what only its kind knows.
func TestServersOfWhichThereIsOneAnswerTheirClients(t *testing.T) {
	for _, x := range []struct {
		name           string
		make           serve.Single
		sent, answered string
	}{
		{"memcached", serve.Memcached, "version\r\n", "VERSION 1.6.18"},
		{"consul", serve.Consul, "GET /v1/kv/lock HTTP/1.1\r\nHost: here\r\n\r\nx\r\n\r\n", "X-Consul-Index: 1"},
		{"etcd", serve.Etcd, "POST /v3/kv/range HTTP/1.1\r\nHost: here\r\nContent-Length: 14\r\n\r\n{\"key\":\"YQ==\"}\r\n\r\n", `"revision":"1"`},
		{"object", serve.Objects, "GET /apis/coordination.k8s.io/v1/namespaces/default/leases/x HTTP/1.1\r\nHost: here\r\n\r\nx\r\n\r\n",
			`leases.coordination.k8s.io \"x\" not found`},
	} {
		t.Run(x.name, func(t *testing.T) {
			w, err := x.make(1, "127.0.0.1:0")
			require.Contains(t, script{x.sent}.answers(t, served(t, w, err)[0]), x.answered)
		})
	}
}
