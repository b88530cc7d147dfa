package serve_test

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// exchange is a request by HTTP, and its answer as far as it is compared. A request is one line, METHOD PATH, perhaps headers, each
// after a "|", and a body after a "<". So is an answer.
type exchange struct{ request, answer string }

// conversation is a list of requests, of which each finds what those before it have left.
type conversation []exchange

// httpSide is a server that is asked: a real one, or ours.
type httpSide struct {
	endpoint string
	client   *http.Client             // nil: the one for servers without TLS
	sign     func(*http.Request)      // nil: nobody asks who it is
	plant    func(line string) string // a mistake that is made on the way; nil: none
}

// send sends the request of a line, and returns the answer before its body is read.
func (s *httpSide) send(line string) (*http.Response, error) {
	if s.plant != nil {
		line = s.plant(line)
	}
	head, body, _ := strings.Cut(line, " < ")
	parts := strings.Split(head, " | ")
	method, path, _ := strings.Cut(parts[0], " ")
	r, err := http.NewRequest(method, s.endpoint+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	for _, header := range parts[1:] {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	if s.sign != nil {
		s.sign(r)
	}
	return cmp.Or(s.client, exchangeClient).Do(r)
}

// try sends the request of a line, and returns the answer with its body.
func (s *httpSide) try(line string) (*http.Response, string, error) {
	a, err := s.send(line)
	if err != nil {
		return nil, "", err
	}
	text, err := io.ReadAll(a.Body)
	return a, string(text), errors.Join(err, a.Body.Close())
}

// do has a request answered.
func (s *httpSide) do(t require.TestingT, line string) (*http.Response, string) {
	a, body, err := s.try(line)
	require.NoError(t, err, line)
	return a, body
}

var exchangeClient = &http.Client{Transport: &http.Transport{DisableCompression: true}, Timeout: 30 * time.Second}

// difference is one that is known between a service and what its users are answered here: expressions that a request and its two answers
// match, and why it is not mended.
type difference struct{ request, ours, theirs, why string }

// knownAs is the name of the difference between two answers to a request; "" if none is known.
func knownAs(table map[string]difference, request, ours, theirs string) string {
	for _, name := range slices.Sorted(maps.Keys(table)) {
		d := table[name]
		if regexp.MustCompile(d.request).MatchString(request) && regexp.MustCompile(d.ours).MatchString(ours) &&
			regexp.MustCompile(d.theirs).MatchString(theirs) {
			return name
		}
	}
	return ""
}

// readConversations reads what was recorded of a real server: lines of requests begin with "> ", and an empty one ends a conversation.
func readConversations(t *testing.T, file string) (all []conversation) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for part := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		var c conversation
		for line := range strings.Lines(part) {
			line = strings.TrimSuffix(line, "\n")
			switch request, is := strings.CutPrefix(line, "> "); {
			case strings.HasPrefix(line, "# "):
			case is:
				c = append(c, exchange{request: request})
			default:
				c[len(c)-1].answer = line
			}
		}
		all = append(all, c)
	}
	return all
}

// writeConversations is its inverse, but for the comment that the file begins with.
func writeConversations(t *testing.T, file, comment string, all []conversation) {
	t.Helper()
	text := "# " + comment + "\n"
	for _, c := range all {
		for _, x := range c {
			text += "> " + x.request + "\n" + x.answer + "\n"
		}
		text += "\n"
	}
	require.Less(t, len(text), 30_000, "too much to keep")
	require.NoError(t, os.WriteFile(file, []byte(strings.TrimSuffix(text, "\n")), 0o644))
}
