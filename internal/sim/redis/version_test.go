package redis

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Each line is a command and its answer from one version after the other: Redis 7.0, Redis 8.4, Valkey 9.0; "=" is the one before.
func TestVersionsHaveTheirCommandsAndNoOthers(t *testing.T) {
	const (
		syntax  = "(error) ERR syntax error"
		typed   = "(error) WRONGTYPE Operation against a key holding the wrong kind of value"
		delex   = "(error) ERR unknown command 'DELEX', with args beginning with: "
		delifeq = "(error) ERR unknown command 'DELIFEQ', with args beginning with: "
	)
	versions := []Version{"", Redis84, Valkey90}
	var sessions []*session
	for _, v := range versions {
		x := newSession(t)
		x.s.server = &Server{Store: x.s, config: Config{Version: v}}
		sessions = append(sessions, x)
	}
	for _, c := range []struct {
		line    string
		replies [3]string
	}{
		{"SET k a PX 10000", [3]string{"OK", "OK", "OK"}},
		{"LPUSH list a", [3]string{"(integer) 1", "(integer) 1", "(integer) 1"}},
		{"DELEX k IFEQ b", [3]string{delex + "'k' 'IFEQ' 'b' ", "(integer) 0", delex + "'k' 'IFEQ' 'b' "}},
		{"DELIFEQ k b", [3]string{delifeq + "'k' 'b' ", delifeq + "'k' 'b' ", "(integer) 0"}},
		{"DELEX nosuch IFEQ a", [3]string{delex + "'nosuch' 'IFEQ' 'a' ", "(integer) 0", delex + "'nosuch' 'IFEQ' 'a' "}},
		{"DELEX nosuch IFNE a", [3]string{delex + "'nosuch' 'IFNE' 'a' ", "(integer) 0", delex + "'nosuch' 'IFNE' 'a' "}},
		{"DELEX list IFEQ a", [3]string{delex + "'list' 'IFEQ' 'a' ", typed, delex + "'list' 'IFEQ' 'a' "}},
		{"DELIFEQ list a", [3]string{delifeq + "'list' 'a' ", delifeq + "'list' 'a' ", typed}},
		{"SET list b IFEQ a", [3]string{syntax, typed, typed}},
		{"SET nosuch b IFEQ a", [3]string{syntax, "(nil)", "(nil)"}},
		{"SET k b IFEQ x", [3]string{syntax, "(nil)", "(nil)"}},
		{"SET k b IFEQ x GET", [3]string{syntax, `"a"`, `"a"`}},
		{"SET k b IFEQ a NX", [3]string{syntax, syntax, syntax}},
		{"SET k b IFEQ", [3]string{syntax, syntax, syntax}},
		{"PTTL k", [3]string{"(integer) 10000", "(integer) 10000", "(integer) 10000"}},
		{"SET k b IFEQ a GET PX 5000", [3]string{syntax, `"a"`, `"a"`}},
		{"PTTL k", [3]string{"(integer) 10000", "(integer) 5000", "(integer) 5000"}},
		{"SET k c IFNE b", [3]string{syntax, "(nil)", syntax}},
		{"SET made c IFNE b", [3]string{syntax, "OK", syntax}},
		{"SET k IFEQ IFEQ b", [3]string{syntax, "OK", "OK"}},
		{"GET k", [3]string{`"a"`, `"IFEQ"`, `"IFEQ"`}},
		{"PTTL k", [3]string{"(integer) 10000", "(integer) -1", "(integer) -1"}},
		{"DELEX k IFNE other", [3]string{delex + "'k' 'IFNE' 'other' ", "(integer) 1", delex + "'k' 'IFNE' 'other' "}},
		{"DELIFEQ k IFEQ", [3]string{delifeq + "'k' 'IFEQ' ", delifeq + "'k' 'IFEQ' ", "(integer) 1"}},
		{"EXISTS k", [3]string{"(integer) 1", "(integer) 0", "(integer) 0"}},
	} {
		for i, x := range sessions {
			require.Equal(t, c.replies[i], x.do(c.line), "%s of %q", c.line, versions[i])
		}
	}
}
