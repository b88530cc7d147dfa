package redis

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseReply(t *testing.T) {
	for raw, want := range map[string]string{
		"+OK\r\n":                      "OK",
		"-WRONGTYPE no\r\n":            "(error) WRONGTYPE no",
		":-3\r\n":                      "(integer) -3",
		"$-1\r\n":                      "(nil)",
		"*-1\r\n":                      "(nil)",
		"$4\r\na\r\nb\r\n":             `"a\r\nb"`,
		"*3\r\n:1\r\n*0\r\n$0\r\n\r\n": `[(integer) 1, [], ""]`,
	} {
		r, err := ParseReply([]byte(raw))
		require.NoError(t, err, "%q", raw)
		require.Equal(t, want, r.String())
	}
}

func TestParseReplyRefusesWhatIsNotOneReply(t *testing.T) {
	for _, raw := range []string{
		"", "\r\n", "+OK", "+OK\r\n+OK\r\n", ":x\r\n", "$5\r\nab\r\n", "*2\r\n:1\r\n", "!1\r\n",
		"*999999999999\r\n", "$9223372036854775807\r\na\r\n",
	} {
		_, err := ParseReply([]byte(raw))
		require.ErrorIs(t, err, ErrReply, "%q", raw)
	}
}

func TestCodeIsTheFirstWordOfAnError(t *testing.T) {
	require.Equal(t, "NOSCRIPT", Reply{Type: ReplyError, Text: "NOSCRIPT No matching script."}.Code())
	require.Empty(t, Reply{Type: ReplyStatus, Text: "OK"}.Code())
}
