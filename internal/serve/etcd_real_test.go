package serve_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/locksim/locksim/internal/live"
	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/internal/real"
	"github.com/locksim/locksim/internal/serve"
)

// fields are the body of a request in the JSON of etcd's gateway.
type fields = map[string]any

// posted is a request to the gateway.
type posted struct{ path, body string }

func post(path string, f fields) posted {
	body, err := json.Marshal(f)
	if err != nil {
		panic(err)
	}
	return posted{path, string(body)}
}

// gateway is a real etcd, or ours. Both are told the same from their beginning, so that their revisions are the same.
type gateway struct {
	endpoint string
	plant    func(posted) posted // a mistake; nil: none
	markers  int
}

const gatewayPatience = 30 * time.Second

// unlike is what differs between two clusters, and what depends on the moment.
var unlike = []struct {
	is *regexp.Regexp
	by string
}{
	{regexp.MustCompile(`"(cluster_id|member_id)":"\d+",`), ""},
	{regexp.MustCompile(`"raft_term":"\d+"`), `"raft_term":""`},
	{regexp.MustCompile(`"TTL":"\d+","grantedTTL":"(\d+)"`), `"grantedTTL":"$1"`},
	{regexp.MustCompile(`\{"ID":"\d{3}\d*"\},?`), ""}, // leases whose identity the server has chosen, or whose order is up to it
}

func alike(text string) string {
	for _, u := range unlike {
		text = u.is.ReplaceAllString(text, u.by)
	}
	return keysOfLease.ReplaceAllStringFunc(text, func(keys string) string { // are in the order of a map
		list := strings.Split(keys, `"`)
		slices.Sort(list)
		return strings.Join(list, " ")
	})
}

var keysOfLease = regexp.MustCompile(`"keys":\[[^]]*\]`)

func (g *gateway) open(ctx context.Context, p posted) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, g.endpoint+p.path, strings.NewReader(p.body))
	if err != nil {
		return nil, err
	}
	return http.DefaultClient.Do(r)
}

// ask returns the answer to a request that is not a watch.
func (g *gateway) ask(t require.TestingT, p posted) string {
	ctx, cancel := context.WithTimeout(context.Background(), gatewayPatience)
	defer cancel()
	a, err := g.open(ctx, p)
	require.NoError(t, err)
	defer func() { _ = a.Body.Close() }()
	text, err := io.ReadAll(a.Body)
	require.NoError(t, err)
	return fmt.Sprintf("%d %s\n%s", a.StatusCode, a.Header.Get("Content-Type"), alike(string(text)))
}

// watching is a watch: what it has told, a line for each message, but the past in one, since the server tells it with what happened until
// it found the time.
type watching struct {
	told  []string
	lines *bufio.Scanner // nil: it has been refused
	past  bool
	stop  func()
}

// watch begins a watch.
func (g *gateway) watch(t require.TestingT, p posted) *watching {
	ctx, cancel := context.WithTimeout(context.Background(), gatewayPatience)
	a, err := g.open(ctx, p)
	require.NoError(t, err)
	w := &watching{past: strings.Contains(p.body, "start_revision"), stop: func() {
		cancel()
		_ = a.Body.Close()
	}}
	w.told = []string{p.path + " " + p.body, fmt.Sprintf("%d %s", a.StatusCode, a.Header.Get("Content-Type"))}
	lines := bufio.NewScanner(a.Body)
	require.True(t, lines.Scan())
	w.told = append(w.told, alike(lines.Text()))
	if a.StatusCode == http.StatusOK {
		w.lines = lines
	}
	return w
}

// until reads what is told until the watch is over, or has told that a key was deleted.
func (w *watching) until(t require.TestingT, key []byte) {
	deletion := `"type":"DELETE","kv":{"key":"` + base64.StdEncoding.EncodeToString(key) + `"`
	for w.lines != nil {
		last := w.told[len(w.told)-1]
		if strings.Contains(last, `"canceled":true`) || strings.Contains(last, deletion) {
			return
		}
		require.True(t, w.lines.Scan(), "%s does not tell of %s", strings.Join(w.told, "\n"), key)
		line := alike(w.lines.Text())
		if _, events, found := strings.Cut(line, `"events":[`); w.past && found {
			w.told[len(w.told)-1] += "," + strings.TrimSuffix(events, "]}}")
			continue
		}
		w.told = append(w.told, line)
	}
}

// mark writes and deletes a key that all watches are to tell of.
func (g *gateway) mark(t require.TestingT, watches ...*watching) {
	g.markers++
	key := fmt.Appendf(nil, "zzz/%d", g.markers)
	g.ask(t, post("/v3/kv/put", fields{"key": key}))
	g.ask(t, post("/v3/kv/deleterange", fields{"key": key}))
	for _, w := range watches {
		w.until(t, key)
	}
}

// since is a revision by how much it is above that at the beginning.
var since = regexp.MustCompile(`"R\+(\d)"`)

// converse carries on a conversation, and ends it with all that can be seen, and an empty store.
func (g *gateway) converse(t require.TestingT, c []posted) string {
	var told []string
	var watches []*watching
	first := regexp.MustCompile(`"revision":"(\d+)"`).FindStringSubmatch(g.ask(t, post("/v3/kv/txn", nil)))
	for _, p := range c {
		if g.plant != nil {
			p = g.plant(p)
		}
		p.body = since.ReplaceAllStringFunc(p.body, func(text string) string {
			n, err := strconv.Atoi(first[1])
			require.NoError(t, err)
			return fmt.Sprintf(`"%d"`, n+int(text[3]-'0'))
		})
		if p.path == "/v3/watch" {
			w := g.watch(t, p)
			defer w.stop()
			watches = append(watches, w)
			g.mark(t, w)
			continue
		}
		told = append(told, g.ask(t, p))
	}
	all := fields{"key": []byte{0}, "range_end": []byte{0}}
	end := []posted{post("/v3/kv/range", all), post("/v3/lease/timetolive", fields{"ID": 12, "keys": true}), post("/v3/lease/leases", nil)}
	for _, id := range slices.Compact(slices.Clone(leasesChosen)) {
		end = append(end, post("/v3/lease/revoke", fields{"ID": id}))
	}
	for _, p := range append(end, post("/v3/kv/deleterange", all)) {
		told = append(told, p.path+"\n"+g.ask(t, p))
	}
	g.mark(t, watches...)
	for _, w := range watches {
		told = append(told, w.told...)
	}
	return strings.Join(told, "\n")
}

var (
	gatewayKeys  = []string{"a", "ab", "b", "lock/1", "lock/2"}
	gatewayEnds  = []string{"", "", "b", "a", "lock0", "\x00"}
	leasesChosen = []any{11, 12, 12, 13, -5, 77}
)

func bytesOf(t *rapid.T, list []string) []byte {
	return []byte(rapid.SampledFrom(list).Draw(t, "bytes"))
}

// some adds fields, each with a chance of one in three.
func some(t *rapid.T, f, more fields) fields {
	for _, name := range slices.Sorted(maps.Keys(more)) {
		if rapid.IntRange(0, 2).Draw(t, name) == 0 {
			f[name] = more[name]
		}
	}
	return f
}

func number(t *rapid.T, list ...any) any {
	n := rapid.SampledFrom(list).Draw(t, "number")
	if rapid.Bool().Draw(t, "text") {
		return fmt.Sprint(n)
	}
	return n
}

// drawRevision draws one of 64 bits that has been, is still to come, or will never be.
func drawRevision(t *rapid.T) any { return number(t, 0, "R+0", "R+1", "R+2", "R+4", "R+8", 1<<40) }

func drawRange(t *rapid.T) fields {
	f := some(t, fields{"key": bytesOf(t, gatewayKeys), "range_end": bytesOf(t, gatewayEnds)}, fields{
		"limit":       number(t, 0, 1, 2, -1),
		"sort_order":  rapid.SampledFrom([]any{"NONE", "ASCEND", "DESCEND", 1, 2, 7}).Draw(t, "order"),
		"sort_target": rapid.SampledFrom([]any{"KEY", "VERSION", "CREATE", "MOD", "VALUE", 3}).Draw(t, "target"), // another one crashes etcd 3.4
		"keys_only":   rapid.Bool().Draw(t, "keys only"), "serializable": true, "unknown": 1,
	})
	if rapid.IntRange(0, 2).Draw(t, "more") > 0 {
		return f
	}
	return some(t, f, fields{
		"revision": drawRevision(t), "count_only": true, "min_mod_revision": drawRevision(t), "max_create_revision": drawRevision(t),
	})
}

func drawPut(t *rapid.T) fields {
	return some(t, fields{"key": bytesOf(t, gatewayKeys)}, fields{
		"value": bytesOf(t, []string{"", "1", "zwei"}), "lease": number(t, leasesChosen...), "prev_kv": true,
		"ignore_value": rapid.IntRange(0, 2).Draw(t, "ignore") == 0, "ignore_lease": rapid.IntRange(0, 2).Draw(t, "ignore") == 0,
	})
}

func drawDelete(t *rapid.T) fields {
	return some(t, fields{"key": bytesOf(t, gatewayKeys)}, fields{"range_end": bytesOf(t, gatewayEnds), "prev_kv": true})
}

func drawTxn(t *rapid.T) fields {
	var f fields
	for _, name := range []string{"success", "failure"} {
		var ops []fields
		for range rapid.IntRange(0, 3).Draw(t, name) {
			ops = append(ops, rapid.SampledFrom([]func() fields{
				func() fields { return fields{"request_range": drawRange(t)} }, func() fields { return fields{"request_put": drawPut(t)} },
				func() fields { return fields{"requestDeleteRange": drawDelete(t)} },
			}).Draw(t, "op")())
		}
		if len(ops) > 0 {
			f = some(t, fields{name: ops}, f)
		}
	}
	var conditions []fields
	for range rapid.IntRange(0, 2).Draw(t, "conditions") {
		target := rapid.SampledFrom([]any{"VERSION", "CREATE", "MOD", "LEASE", "VALUE", 9}).Draw(t, "target")
		c := some(t, fields{"key": bytesOf(t, gatewayKeys), "target": target}, fields{
			"result":    rapid.SampledFrom([]any{"EQUAL", "GREATER", "LESS", "NOT_EQUAL", 9}).Draw(t, "result"),
			"range_end": bytesOf(t, gatewayEnds),
		})
		if name, numeric := map[any]string{"VERSION": "version", "CREATE": "create_revision", "MOD": "mod_revision", "LEASE": "lease"}[target]; numeric {
			c[name] = number(t, 0, 0, 1, 2, 12, "R+1", "R+3")
		} else {
			c["value"] = bytesOf(t, []string{"", "1", "zwei"})
		}
		conditions = append(conditions, c)
	}
	return some(t, fields{"compare": conditions}, f)
}

func drawPosted(t *rapid.T) posted {
	lease := fields{"ID": number(t, leasesChosen...)}
	p := rapid.SampledFrom([]func() posted{
		func() posted { return post("/v3/kv/range", drawRange(t)) }, func() posted { return post("/v3/kv/put", drawPut(t)) },
		func() posted { return post("/v3/kv/put", drawPut(t)) }, func() posted { return post("/v3/kv/deleterange", drawDelete(t)) },
		func() posted { return post("/v3/kv/txn", drawTxn(t)) }, func() posted { return post("/v3/kv/txn", drawTxn(t)) },
		func() posted {
			return post("/v3/kv/compaction", fields{"physical": true, "revision": number(t, 0, "R+0", "R+1", "R+2", 1<<40)})
		},
		func() posted {
			return post("/v3/lease/grant", fields{"ID": lease["ID"], "TTL": number(t, 600, 700, 9_000_000_000, 9_000_000_001)})
		},
		func() posted { return post("/v3/lease/keepalive", lease) }, func() posted { return post("/v3/lease/revoke", lease) },
		func() posted { return post("/v3/kv/lease/revoke", lease) },
		func() posted { return post("/v3/lease/timetolive", some(t, lease, fields{"keys": true})) },
		func() posted { return post("/v3/lock/unlock", fields{"key": bytesOf(t, gatewayKeys)}) },
		func() posted {
			f := some(t, fields{"key": bytesOf(t, gatewayKeys), "range_end": []byte{0}}, fields{
				"start_revision": number(t, "R+0", "R+1", "R+2"), "prev_kv": true, "filters": rapid.SampledFrom([][]any{{"NOPUT"}, {0}, {}}).Draw(t, "filters"),
			})
			if rapid.IntRange(0, 9).Draw(t, "no keys") == 0 {
				f["key"], f["range_end"] = []byte("b"), []byte("a")
			}
			return post("/v3/watch", fields{"create_request": f})
		},
	}).Draw(t, "request")()
	if rapid.IntRange(0, 5).Draw(t, "wrong") == 0 {
		p.body = spoil(t, p)
	}
	return p
}

var value = regexp.MustCompile(`:("[^"]*"|\d+|true)`)

// spoil makes a mistake in a body. What is left out of a watch leaves it unanswered, and the server chooses a lease's own identity and life.
func spoil(t *rapid.T, p posted) string {
	body := p.body
	places := value.FindAllStringIndex(body, -1)
	if len(places) == 0 {
		return "x"
	}
	at := rapid.SampledFrom(places).Draw(t, "place")
	values := []string{`{}`, `"?"`, `1.5`, `true`, `"600"`, `x`, `"5x"`}
	zeros := p.path != "/v3/watch" && p.path != "/v3/lease/grant"
	if zeros {
		values = append(values, `null`, `""`, `[]`)
	}
	wrong := body[:at[0]] + ":" + rapid.SampledFrom(values).Draw(t, "value") + body[at[1]:]
	if !zeros {
		return wrong
	}
	return rapid.SampledFrom([]string{
		wrong, wrong, body[:at[1]], `[]`, ``, `null`, `{}`, `{"key" "a"}`,
	}).Draw(t, "mistake")
}

// drawGatewayTalk draws a conversation, which begins with some of the keys written.
func drawGatewayTalk(t *rapid.T) (c []posted) {
	for _, key := range gatewayKeys {
		if rapid.Bool().Draw(t, "is there") {
			c = append(c, post("/v3/kv/put", fields{"key": []byte(key), "value": []byte(key)}))
		}
	}
	return append(c, rapid.SliceOfN(rapid.Custom(drawPosted), 10, 40).Draw(t, "requests")...)
}

// bothGateways starts a real etcd and ours.
func bothGateways(t *testing.T) (theirs, ours *gateway) {
	t.Helper()
	h, err := real.NewHost()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	server, err := h.Etcd("etcd")
	if m := (*real.Missing)(nil); errors.As(err, &m) {
		t.Skip(m)
	}
	require.NoError(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(server.Log())
		}
	})
	return &gateway{endpoint: server.Endpoint}, gatewayHere(t)
}

func gatewayHere(t *testing.T) *gateway {
	w, err := serve.Etcd(1, "127.0.0.1:0")
	return &gateway{endpoint: "http://" + served(t, w, err)[0]}
}

// TestEtcdsGatewayAnswersAsTheRealOneDoes sends the same requests to both, of which every sixth has a mistake: status, type and body
// are the same to the byte, but for the numbers of the cluster.
func TestEtcdsGatewayAnswersAsTheRealOneDoes(t *testing.T) {
	t.Parallel()
	theirs, ours := bothGateways(t)
	talk, played := rapid.Custom(drawGatewayTalk), 0
	for round := 0; played < long.Pick(300, 1_000, 10_000); round++ { // rapid's own Check plays again, on servers that have not forgotten
		c := talk.Example(round)
		played += len(c)
		require.Equal(t, theirs.converse(t, c), ours.converse(t, c), "conversation %d", round)
	}
}

// TestTheComparisonOfGatewaysSeesWhatIsPlanted compares ours with one whose clients ask for something else.
func TestTheComparisonOfGatewaysSeesWhatIsPlanted(t *testing.T) {
	t.Parallel()
	talk := rapid.Custom(drawGatewayTalk)
	for name, mistake := range map[string][2]string{
		"nothing":                        {},
		"a limit is one more":            {`"limit":1`, `"limit":2`},
		"an order is the other":          {`"ASCEND"`, `"DESCEND"`},
		"a value is lost":                {`"value":"MQ=="`, `"value":""`},
		"a key has no lease":             {`"lease":12`, `"lease":0`},
		"what was before is not shown":   {`"prev_kv":true`, `"prev_kv":false`},
		"a deletion is of one key":       {`"range_end":"bG9jazA="`, `"range_end":""`},
		"a condition is the opposite":    {`"EQUAL"`, `"NOT_EQUAL"`},
		"a watch tells of writes":        {`["NOPUT"]`, `[]`},
		"a watch begins now":             {`"start_revision":"R+0"`, `"start_revision":0`},
		"a lease lives on":               {`lease/revoke`, `lease/timetolive`},
		"a lease is granted for less":    {`"TTL":700`, `"TTL":600`},
		"the past can be read for good":  {`kv/compaction`, `kv/range`},
		"an error is not seen":           {`"ID":true`, `"ID":12`},
		"a text is taken for its number": {`"5x"`, `"5"`},
	} {
		t.Run(name, func(t *testing.T) {
			right, wrong := gatewayHere(t), gatewayHere(t)
			wrong.plant = func(p posted) posted {
				if mistake[0] != "" {
					p.path, p.body = strings.ReplaceAll(p.path, mistake[0], mistake[1]), strings.ReplaceAll(p.body, mistake[0], mistake[1])
				}
				return p
			}
			differs := false
			for round := 0; round < 200 && !differs; round++ {
				c := talk.Example(round)
				if name == "nothing" && round == 20 {
					break
				}
				differs = right.converse(t, c) != wrong.converse(t, c)
			}
			require.Equal(t, name != "nothing", differs)
		})
	}
}

// TestEtcdsServiceForLocksQueuesAsTheRealOneDoes has three clients ask for a lock. The lease of the second ends while it waits; etcd 3.4
// gives it the lock all the same. A client that hangs up leaves the queue.
func TestEtcdsServiceForLocksQueuesAsTheRealOneDoes(t *testing.T) {
	theirs, ours := bothGateways(t)
	require.Equal(t, theirs.queue(t), ours.queue(t))
}

func (g *gateway) queue(t *testing.T) (told []string) {
	say := func(p posted) { told = append(told, p.path+" "+p.body+"\n"+g.ask(t, p)) }
	lock := func(lease int) posted { return post("/v3/lock/lock", fields{"name": []byte("m"), "lease": lease}) }
	unlock := func(key string) posted { return post("/v3/lock/unlock", fields{"key": []byte(key)}) }
	count := func(want int) { // of the queue
		require.Eventually(t, func() bool {
			a := g.ask(t, post("/v3/kv/range", fields{"key": []byte("m/"), "range_end": []byte("m0"), "count_only": true}))
			return strings.Contains(a, fmt.Sprintf(`"count":"%d"`, want)) || want == 0 && !strings.Contains(a, "count")
		}, gatewayPatience, time.Millisecond)
	}
	wait := func(p posted) chan string {
		answer := make(chan string, 1)
		go func() {
			a, err := g.open(t.Context(), p)
			if err != nil {
				answer <- err.Error()
				return
			}
			defer func() { _ = a.Body.Close() }()
			text, err := io.ReadAll(a.Body)
			answer <- fmt.Sprintf("%d %s %v", a.StatusCode, alike(string(text)), err)
		}()
		return answer
	}
	for _, id := range []int{11, 12, 13} {
		say(post("/v3/lease/grant", fields{"ID": id, "TTL": 600}))
	}
	say(lock(11))
	say(lock(11))
	second := wait(lock(12))
	count(2)
	third := wait(lock(13))
	count(3)
	ctx, hangUp := context.WithCancel(t.Context())
	go func() { _, _ = g.open(ctx, post("/v3/lock/lock", fields{"name": []byte("m")})) }()
	count(4)
	hangUp()
	count(3)
	say(post("/v3/lease/revoke", fields{"ID": 12}))
	count(2)
	say(unlock("m/b"))
	told = append(told, <-second, <-third)
	say(unlock("m/d"))
	count(0)
	say(unlock("m/d"))
	say(lock(77))
	say(unlock(""))
	return told
}

// TestTheLockOfEtcdsLibraryTakesTurnsOnOurs has the lock that speaks to real servers speak to ours.
func TestTheLockOfEtcdsLibraryTakesTurnsOnOurs(t *testing.T) {
	takesTurns(t, "etcd", live.Config{Etcd: gatewayHere(t).endpoint})
}
