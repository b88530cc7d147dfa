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

// planting has a mistake made on the way; nil: none.
func (s *httpSide) planting(mistake func(line string) string) { s.plant = mistake }

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

// side is a server that conversations are held with.
type side interface {
	begin(t require.TestingT)                   // a conversation, without anything that others have left
	ask(t require.TestingT, line string) string // the answer to a request, as a line
	do(t require.TestingT, line string) (*http.Response, string)
	planting(mistake func(line string) string)
}

// comparison compares the answers of a real server and of ours.
type comparison struct {
	ours     func(*testing.T) side
	talk     func(round int) []string // the requests of a conversation
	unlike   map[string]difference
	align    func(t require.TestingT, theirs, ours side, line string) // makes equal what they have, after a difference; theirs may be nil
	record   string                                                   // the file with what the real one has answered, its first line …
	comment  string
	recorded int // … and how many conversations it has
}

// hold holds conversations with a real server and with ours, of so many requests together. What differs and is known is made equal again,
// so that the conversation can go on. With UPDATE=1 it records the first of them.
func (c *comparison) hold(t *testing.T, theirs side, requests int) {
	t.Helper()
	ours := c.ours(t)
	var record []conversation
	played, seen := 0, map[string]int{}
	for round := 0; played < requests; round++ {
		theirs.begin(t)
		ours.begin(t)
		var held conversation
		for _, line := range c.talk(round) {
			played++
			x := exchange{line, theirs.ask(t, line)}
			held = append(held, x)
			if our := ours.ask(t, line); our != x.answer {
				seen[c.known(t, round, len(held), x, our)]++
				c.align(t, theirs, ours, line)
			}
		}
		if round < c.recorded {
			record = append(record, held)
		}
	}
	t.Logf("%d requests; known differences: %v", played, seen)
	if os.Getenv("UPDATE") != "" {
		writeConversations(t, c.record, c.comment, record)
	}
}

// known is the name of a difference, which there must be.
func (c *comparison) known(t *testing.T, round, request int, x exchange, our string) string {
	t.Helper()
	name := knownAs(c.unlike, x.request, our, x.answer)
	require.NotEmpty(t, name, "conversation %d, request %d: %s\ntheirs: %s\nours: %s", round, request, x.request, x.answer, our)
	return name
}

// replay holds the recorded conversations with ours alone. Each difference that is known must be needed for that.
func (c *comparison) replay(t *testing.T) {
	t.Helper()
	ours, seen := c.ours(t), map[string]int{}
	for round, held := range readConversations(t, c.record) {
		ours.begin(t)
		for i, x := range held {
			if our := ours.ask(t, x.request); our != x.answer {
				seen[c.known(t, round, i+1, x, our)]++
				c.align(t, nil, ours, x.request)
			}
		}
	}
	for name := range c.unlike {
		require.NotZero(t, seen[name], "no recorded answer differs as the row says: %s", name)
	}
}

// sees plays the recorded conversations on servers whose clients ask for something else: each mistake is seen, and no other difference.
func (c *comparison) sees(t *testing.T, mistakes map[string]func(line string) string) {
	t.Helper()
	mistakes["nothing"] = nil
	for name, mistake := range mistakes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wrong := c.ours(t)
			differs := slices.ContainsFunc(readConversations(t, c.record), func(held conversation) bool {
				wrong.begin(t)
				return slices.ContainsFunc(held, func(x exchange) bool {
					wrong.planting(mistake)
					our := wrong.ask(t, x.request)
					wrong.planting(nil)
					if our == x.answer || knownAs(c.unlike, x.request, our, x.answer) == "" {
						return our != x.answer
					}
					c.align(t, nil, wrong, x.request)
					return false
				})
			})
			require.Equal(t, mistake != nil, differs)
		})
	}
}
