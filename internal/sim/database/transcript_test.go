package database_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/database"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

const ms = time.Millisecond

// world is a server, clients that send what a transcript says, and what is seen of both.
type world struct {
	*sim.Engine
	t       *testing.T
	server  *database.Server
	entry   *sim.Node // what clients connect to
	clients map[string]*client
	seen    []string
}

func newWorld(t *testing.T, c database.Config) *world {
	w := &world{t: t, clients: make(map[string]*client), Engine: sim.New(sim.Config{
		Until: trace.Instant(24 * time.Hour), Latency: sim.Constant(ms),
	}, nil)}
	c.Observer = w
	c.Tables = []database.Table{
		{Name: "locks", Columns: []string{"name", "owner", "expires_at", "version"}},
		{Name: "resource", Columns: []string{"id", "version"}, Rows: [][]database.Value{
			{database.Int(0), database.Int(0)}, {database.Int(1), database.Int(0)},
		}},
	}
	w.server = database.New(c)
	w.entry = w.AddServer("db", w.server)
	w.server.Attach(w.entry)
	return w
}

// pooled puts a pooler of two connections in front of the server.
func (w *world) pooled() {
	pooler := database.NewPooler(2)
	w.entry = w.AddServer("pooler", pooler)
	pooler.Attach(w.entry, w.server.Node())
}

func (w *world) note(format string, args ...any) {
	w.seen = append(w.seen, fmt.Sprintf(format, args...))
}

func (w *world) Executed(*database.Server, *database.Request, *database.Response) {}

func (w *world) Waits(*database.Server, database.Key, *database.Request) {}

func (w *world) Took(_ *database.Server, k database.Key, r *database.Request, times int) {
	if times > 1 {
		w.note("  %s takes %v %d times", r.Client, k, times)
		return
	}
	w.note("  %s takes %v", r.Client, k)
}

func (w *world) Left(_ *database.Server, k database.Key, r *database.Request, why database.Why, times int) {
	by := ""
	if r != nil {
		by = " by " + r.Client
	}
	if times > 0 {
		by += fmt.Sprintf(" but for %d times", times)
	}
	w.note("  %v is %s%s", k, whys[why], by)
}

func (w *world) RolledBack(_ *database.Server, changes []database.Change) {
	for _, c := range changes {
		w.note("  %s %v stays %v", c.Table.Name, c.After, c.Before)
	}
}

func (w *world) Committed(_ *database.Server, r *database.Request, changes []database.Change) {
	for _, c := range changes {
		w.note("  %s commits %s %v -> %v", r.Client, c.Table.Name, c.Before, c.After)
	}
}

var whys = []string{"released", "ended", "freed: disconnected", "freed: idle", "freed: killed", "freed: crashed"}

// client is a connection that notes what arrives.
type client struct {
	w     *world
	name  string
	conn  *sim.Conn
	waits bool
}

func (c *client) Deliver(p sim.Payload) {
	c.waits = false
	c.w.note("%s: %v", c.name, p)
}

func (c *client) Closed() {
	c.waits = false
	c.w.note("%s: closed", c.name)
}

// TestTranscripts plays the files of testdata: what begins with > is done, what follows is seen. A first word that is
// not one of the verbs below is a client, which sends the rest.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			got := playTranscript(t, filepath.Base(file), string(want))
			if os.Getenv("UPDATE") != "" {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o600))
				return
			}
			require.Equal(t, string(want), got)
		})
	}
}

func playTranscript(t *testing.T, file, text string) string {
	t.Helper()
	config := database.Config{}
	if strings.HasPrefix(file, "pg-") {
		config.Dialect = database.PostgreSQL
	}
	w := newWorld(t, config)
	if strings.Contains(file, "pooler") {
		w.pooled()
	}
	var b strings.Builder
	w.AddClient("driver", func(task *sim.Task) {
		for line := range strings.Lines(text) {
			if command, ok := strings.CutPrefix(strings.TrimSpace(line), "> "); ok {
				w.seen = nil
				w.do(task, command)
				b.WriteString("> " + command + "\n")
				for _, line := range w.seen {
					b.WriteString(line + "\n")
				}
			} else if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
				b.WriteString(line)
			}
		}
	})
	require.Nil(t, w.Run().Panic)
	return b.String()
}

// do does what a line of a transcript says, and waits for what comes of it.
func (w *world) do(t *sim.Task, command string) {
	who, rest, _ := strings.Cut(command, " ")
	switch who {
	case "sleep":
		d, err := time.ParseDuration(rest)
		require.NoError(w.t, err)
		t.Sleep(d)
	case "close":
		w.clients[rest].conn.Close()
		delete(w.clients, rest)
	case "kill":
		w.server.Kill(rest)
		clear(w.clients)
	default:
		w.send(t, who, rest)
	}
	t.Sleep(10 * ms)
	if c := w.clients[who]; c != nil && c.waits {
		w.note("%s waits", who)
	}
}

func (w *world) send(t *sim.Task, who, statement string) {
	c := w.clients[who]
	if c == nil {
		c = &client{w: w, name: who}
		conn, err := t.Dial(w.entry, c, 0)
		require.NoError(w.t, err)
		c.conn = conn
		w.clients[who] = c
	}
	c.waits = true
	require.NoError(w.t, c.conn.Send(t, &database.Request{Statement: statement, Origin: sim.Origin{Client: who}}))
}
