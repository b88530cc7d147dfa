package serve_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/redis"
)

// A story is a list of actions of one server's clients, one per line: "0 SET lock a" is client 0's command, its words
// as redis-cli takes them, with @2 for the number of client 2's connection; "0> …" are bytes as they are; "+20" sets
// the clock forward by 20 milliseconds, "-20" back. "kill" kills the server's process and starts it again, "save"
// makes it write a snapshot.

// noon is when stories begin. Its milliseconds, and those of all draws, are such that no date that is drawn is ever met exactly.
var noon = time.Date(2026, 6, 1, 12, 0, 0, int(2*time.Millisecond), time.UTC)

// telling is a story as one side tells it.
type telling struct {
	side      redisSide
	now       time.Time
	ids       []string
	queues    []bool // whether a client is in a transaction
	mixed     []bool // whether a client's transaction holds a command whose reply has no order
	redirects bool   // somebody may be told for somebody else
	loose     bool   // it is not compared what a connection is told within its own transaction, see recountDrawn
	log       []string
}

// recount has a side act a story of three clients, and returns what was heard after each line.
func recount(t require.TestingT, side redisSide, lines []string) []string {
	return (&telling{side: side}).tell(t, lines)
}

// recountDrawn is recount of a story in which a connection may be told of something in the middle of its own transaction, for
// another before or after its own reply, or by another protocol's null that all keys have gone: see the differences that are known.
func recountDrawn(t require.TestingT, side redisSide, lines []string) []string {
	return (&telling{side: side, loose: true}).tell(t, lines)
}

func (s *telling) tell(t require.TestingT, lines []string) []string {
	const clients = 3
	s.now, s.queues, s.mixed = noon, make([]bool, clients), make([]bool, clients)
	s.side.setClock(t, s.now)
	s.side.open(t, clients)
	for i := range clients {
		s.ids = append(s.ids, s.idOf(t, i))
	}
	for _, line := range lines {
		s.act(t, line)
	}
	return s.log
}

// idOf asks for the number of a client's connection.
func (s *telling) idOf(t require.TestingT, client int) string {
	s.side.send(t, client, wired("CLIENT", "ID"))
	return strings.TrimSpace(strings.TrimPrefix(s.side.heard(t)[client], ":"))
}

func (s *telling) act(t require.TestingT, line string) {
	unordered := false
	head, rest, _ := strings.Cut(line, " ")
	switch client, err := strconv.Atoi(strings.TrimSuffix(head, ">")); {
	case line == "kill":
		s.side.restart(t)
	case line == "save":
		s.side.save(t)
	case line[0] == '+' || line[0] == '-':
		by, err := time.ParseDuration(line + "ms")
		require.NoError(t, err, line)
		s.now = s.now.Add(by)
		s.side.setClock(t, s.now)
		unordered = true // what ends at once ends in any order
	case strings.HasSuffix(head, ">"):
		require.NoError(t, err, line)
		bytes, err := strconv.Unquote(`"` + rest + `"`)
		require.NoError(t, err, line)
		s.side.send(t, client, bytes)
	default:
		require.NoError(t, err, line)
		args := s.words(t, rest)
		s.redirects = s.redirects || slices.Contains(args, "REDIRECT")
		unordered = s.unordered(client, args[0])
		s.side.send(t, client, wired(args...))
	}
	s.listen(t, line, unordered)
}

// listen notes what was heard after a line.
func (s *telling) listen(t require.TestingT, line string, unordered bool) {
	s.log = append(s.log, "-- "+line)
	for i, text := range s.side.heard(t) {
		if text == "" {
			continue
		}
		pushed := strings.Contains("\r\n"+text, "\r\n>") || strings.Contains(text, "message")
		within := s.redirects || strings.HasSuffix(line, " EXEC") && pushed
		if s.loose {
			text = strings.ReplaceAll(text, "invalidate\r\n$-1", "invalidate\r\n_")
		}
		s.log = append(s.log, fmt.Sprintf("%d hears %s", i, likened(text, unordered || s.loose && within)))
	}
}

// words are those of a line, with numbers of connections in the place of clients.
func (s *telling) words(t require.TestingT, line string) []string {
	args, _, err := redis.ParseCommand([]byte(line + "\n"))
	require.NoError(t, err, line)
	for i, word := range args {
		if client, err := strconv.Atoi(strings.TrimPrefix(word, "@")); err == nil && word[0] == '@' {
			args[i] = s.ids[client]
		}
	}
	return args
}

// inNoOrder are commands whose replies have an order that says nothing: that of a hash table.
var inNoOrder = []string{"HGETALL", "HKEYS", "HVALS", "SMEMBERS", "SINTER", "SUNION", "SDIFF", "KEYS", "SCAN", "PUBSUB", "UNSUBSCRIBE", "CONFIG"}

// unordered reports whether the reply to a command has no order, or contains one that has none.
func (s *telling) unordered(client int, command string) bool {
	switch command = strings.ToUpper(command); command {
	case "MULTI": // a second one changes nothing
		s.mixed[client], s.queues[client] = s.mixed[client] && s.queues[client], true
	case "DISCARD", "RESET":
		s.queues[client] = false
	case "EXEC":
		s.queues[client] = false
		return s.mixed[client]
	}
	no := slices.Contains(inNoOrder, command)
	s.mixed[client] = s.mixed[client] || no
	return no
}

// ownNumbers are where replies tell numbers that each side counts for itself.
var ownNumbers = regexp.MustCompile(`(\$2\r\nid\r\n|redirect\r\n|tracking-redir-broken\r\n):[1-9]\d*`)

// likened is what was heard with a blank for each end of a line, and errors by their codes: their texts differ from version
// to version.
func likened(text string, unordered bool) string {
	lines := strings.Split(ownNumbers.ReplaceAllString(text, "$1:own"), "\r\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "-") {
			lines[i], _, _ = strings.Cut(line, " ")
		}
	}
	if unordered {
		slices.Sort(lines)
	}
	return fmt.Sprintf("%q", strings.Join(lines, " "))
}

// wired writes a command line as clients do.
func wired(words ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, word := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(word), word)
	}
	return b.String()
}
