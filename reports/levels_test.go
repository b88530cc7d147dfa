package reports_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// runOf makes a run of a scenario and a history.
func runOf(t testing.TB, scenario, past string, events ...trace.Event) reports.Run {
	t.Helper()
	s, err := scenarios.Parse("drawn.yaml", []byte("name: drawn\ntitle: A run\n"+strings.TrimSpace(scenario)+"\n"))
	require.NoError(t, err)
	h, err := history.Parse(strings.TrimSpace(past) + "\n")
	require.NoError(t, err)
	return reports.Run{
		Case: s.Cases()[0], Lock: s.Lock.Algorithm, Virtual: h.End, History: h, Events: events,
		Report: checker.Check(h, checker.Options{ProgressWithin: s.Progress}),
	}
}

// drawnOf is what there is to draw of a run.
func drawnOf(r reports.Run) timeline.Timeline {
	return reports.Schedules([]reports.Run{r}, 100)[0].Runs[0]
}

// levelsOf is how a row of numbers goes: "3ms 1 of 5, 7ms 2 of 5"; "" if there is no such row.
func levelsOf(r reports.Run, name string) string {
	var list []string
	for _, l := range drawnOf(r).Lanes {
		if l.Name != name {
			continue
		}
		for _, level := range l.Levels {
			list = append(list, strings.TrimSpace(fmt.Sprintf("%s %s", level.At, level.Text)))
		}
	}
	return strings.Join(list, ", ")
}

// carried are the events of a message; it never arrives if it is received at 0.
func carried(id uint64, from, to, purpose string, at, received time.Duration) []trace.Event {
	step := trace.Step{Node: from, Does: trace.Reply, What: "SET", Alt: purpose, Peer: to}
	list := []trace.Event{{At: trace.Instant(at), Step: step, Msg: id}}
	if received > 0 {
		step.Node, step.Peer, step.Does = to, from, trace.Receive
		list = append(list, trace.Event{At: trace.Instant(received), Step: step, Msg: id})
	}
	return list
}

// inOrder are events as a trace has them.
func inOrder(lists ...[]trace.Event) []trace.Event {
	events := slices.Concat(lists...)
	slices.SortStableFunc(events, func(a, b trace.Event) int { return int(min(max(a.At-b.At, -1), 1)) })
	return events
}

func TestVotesAreTheServersThatHaveAClientsKey(t *testing.T) {
	r := loadStory(t, "majority-forgets")[0]
	require.Equal(t, "3ms 1 of 5, 7ms 2 of 5, 11ms 3 of 5, 412ms 2 of 5, 3.119s 1 of 5, 3.121s", levelsOf(r, "a votes"))
	drawn := drawnOf(r)
	i := slices.IndexFunc(drawn.Lanes, func(l timeline.Lane) bool { return l.Name == "a votes" })
	require.Equal(t, int64(3), drawn.Lanes[i].Threshold.Value)
	require.Equal(t, timeline.LaneLevel, drawn.Lanes[i].Kind)
	require.Contains(t, textOf(t, []reports.Run{r}, reports.TextOptions{Width: 120}), "3 of 5━")
	require.Contains(t, textOf(t, []reports.Run{r}, reports.TextOptions{Width: 120, ASCII: true}), "2 of 5:")
	require.Empty(t, levelsOf(loadStory(t, "replica-forgets")[0], "a votes"), "replicas do not vote")
	asked := uneventful + "\nask acquisition=1 client=a node=redis-1 at=2ms granted\nask acquisition=1 client=a node=redis-2 at=3ms"
	masters := strings.Replace(mastered, "replicas: 2", "masters: 3", 1)
	require.NotEmpty(t, levelsOf(runOf(t, masters, asked), "a votes"))
	require.Empty(t, levelsOf(runOf(t, masters, uneventful), "a votes"), "it has asked one server only")
	cluster := strings.Replace(masters, "masters: 3", "masters: 3, cluster: true", 1)
	require.Empty(t, levelsOf(runOf(t, cluster, asked), "a votes"), "the key is of one of them")
}

const mastered = `
lock: {algorithm: set-nx-lua, ttl: 10s}
servers: {replicas: 2}
clients: {a: {work: 8s}, b: {work: 1s}}
`

const uneventful = `
history registers=1 authority end=12s
acquisition id=1 client=a returned=6ms outcome=ok unlocked=10s released=10.002s release=ok
grant acquisition=1 client=a from=2ms to=10s ended=unlock
copy node=redis-1 acquisition=1 client=a from=2ms to=10s expires=10.002s gone=deleted`

func TestAReplicasLagIsWhatItHasNotReceived(t *testing.T) {
	const ms, s = time.Millisecond, time.Second
	late := inOrder(carried(1, "redis-1", "redis-2", "acquire", 2*ms, 5*s), carried(2, "redis-1", "redis-2", "renew", 3*s, 5*s),
		carried(3, "redis-1", "redis-3", "acquire", 2*ms, 3*ms), carried(4, "redis-1", "redis-2", "", 1*s, 6*s),
		carried(5, "redis-1", "redis-3", "renew", 4*s, 4150*ms))
	r := runOf(t, mastered, uneventful, late...)
	require.Equal(t, "2ms 1 write, 3s 2 writes, 5s", levelsOf(r, "redis-2 lag"))
	require.Empty(t, levelsOf(r, "redis-3 lag"), "that is how long messages take")

	lost := inOrder(carried(1, "redis-1", "redis-2", "acquire", 2*ms, 0), []trace.Event{step(4e9, "redis-2", trace.Promote)},
		carried(2, "redis-1", "redis-2", "renew", 5*s, 0))
	r = runOf(t, mastered, uneventful, lost...)
	require.Equal(t, "2ms 1 write, 4s", levelsOf(r, "redis-2 lag"), "who leads lacks nothing")

	sync := carried(2, "redis-1", "redis-2", "", 4*s, 4001*ms)
	for i := range sync {
		sync[i].What = "FULLRESYNC"
	}
	r = runOf(t, mastered, uneventful, inOrder(carried(1, "redis-1", "redis-2", "acquire", 2*ms, 0), sync)...)
	require.Equal(t, "2ms 1 write, 4.001s", levelsOf(r, "redis-2 lag"), "it has all then")
}

func TestWhoTakesItselfForTheMasterIsShown(t *testing.T) {
	r := runOf(t, mastered, uneventful, step(4e9, "redis-2", trace.Promote), step(6e9, "redis-1", trace.Demote))
	require.Equal(t, "0s redis-1, 4s redis-1+redis-2, 6s redis-2", levelsOf(r, "leads"))
	require.Empty(t, levelsOf(runOf(t, mastered, uneventful), "leads"), "nothing changes")
	down := strings.Replace(mastered, "clients:", "faults: [{name: dies, at: 1s, crash: redis-1, restart: 1s}]\nclients:", 1)
	died := uneventful + "\nfault name=dies text=\"crash: redis-1\" fired begin=1s end=2s"
	r = runOf(t, down, died, step(4e9, "redis-2", trace.Promote), step(6e9, "redis-1", trace.Demote))
	require.Equal(t, "0s redis-1, 1s, 2s redis-1, 4s redis-1+redis-2, 6s redis-2", levelsOf(r, "leads"))
}

func TestLeadersHaveEpochs(t *testing.T) {
	ensemble := "lock: {algorithm: zk-sequential, ttl: 10s}\nservers: {kind: zookeeper}\nclients: {a: {work: 8s}}\n" +
		"faults: [{name: dies, at: 1s, crash: zk-3, restart: 2s}]"
	died := strings.ReplaceAll(uneventful, "redis-1", "zk-3") + "\nfault name=dies text=\"crash: zk-3\" fired begin=1s end=3s"
	elected := step(4e9, "zk-2", trace.Promote)
	elected.Sum = 2
	require.Equal(t, "0s zk-3 epoch 1, 1s, 4s zk-2 epoch 2", levelsOf(runOf(t, ensemble, died, elected), "leads"),
		"who comes back leads no longer")

	service := "lock: {algorithm: etcd, ttl: 10s}\nservers: {kind: etcd}\nclients: {a: {work: 8s}}"
	elected.Node = "etcd-1"
	r := runOf(t, service, strings.ReplaceAll(uneventful, "redis-1", "etcd-1"), step(3e9, "etcd-1", trace.Demote), elected)
	require.Equal(t, "0s epoch 1, 3s, 4s epoch 2", levelsOf(r, "leads"))
}

func TestAWrongClockIsShown(t *testing.T) {
	clocks := mastered + "clocks: {redis-1: {offset: -20ms}, a: {rate: 1%}}\n" +
		"faults: [{name: jump, at: 2s, clock: redis-2, step: 3s, for: 4s}, {name: fast, at: 5s, clock: redis-3, rate: 10%, for: 2s}]"
	wrong := uneventful + "\nfault name=jump text=\"clock: redis-2\" fired begin=2s end=6s" +
		"\nfault name=fast text=\"clock: redis-3\" fired begin=5s end=7s"
	r := runOf(t, clocks, wrong)
	require.Equal(t, "0s -20ms", levelsOf(r, "redis-1 clock"))
	require.Equal(t, "2s +3s, 6s", levelsOf(r, "redis-2 clock"))
	require.Equal(t, "5s +10%, 6s +100ms, 7s +200ms", levelsOf(r, "redis-3 clock"), "what it has gained it keeps")
	require.Equal(t, "0s +1%, 2s +20ms, 4s +40ms, 6s +60ms, 8s +80ms, 10s +100ms", levelsOf(r, "a clock"))
	require.Empty(t, levelsOf(r, "b clock"), "it is right")
	never := strings.ReplaceAll(wrong, " fired begin=2s end=6s", "")
	require.Empty(t, levelsOf(runOf(t, clocks, never), "redis-2 clock"))
}

func TestTheLargestTokenIsWhatTheResourceHasSeen(t *testing.T) {
	runs := loadStory(t, "pause-and-fence")
	require.Equal(t, "7ms 1, 10.095s 2", levelsOf(runs[0], "max token"), "where nobody compares, what has come")
	require.Equal(t, "11.097s 2", levelsOf(runs[1], "max token"), "reads show no token")
	require.Equal(t, "7ms 1, 10.095s 2", levelsOf(runs[2], "max token"))
	require.Empty(t, levelsOf(loadStory(t, "majority-forgets")[0], "max token"), "there are none")
}

func TestASessionIsWholeWheneverTheLeaderHearsOfItsClient(t *testing.T) {
	ensemble := "lock: {algorithm: zk-sequential, ttl: 10s}\nservers: {kind: zookeeper}\nclients: {a: {work: 8s}}"
	ephemeral := strings.ReplaceAll(strings.ReplaceAll(uneventful, "redis-1", "zk-3"), " expires=10.002s", "")
	says := func(id uint64, from, to, what string, at time.Duration) []trace.Event {
		list := carried(id, from, to, "", at, at+time.Millisecond)
		for i := range list {
			list[i].What = what
		}
		list[0].Does = trace.Send
		return list
	}
	const s = time.Second
	r := runOf(t, ensemble, ephemeral, inOrder(says(1, "a", "zk-3", "ping", 2*s), says(2, "a", "zk-1", "ping", 4*s),
		says(3, "zk-1", "zk-3", "PONG", 5*s), says(4, "zk-1", "zk-3", "PONG", 7*s), says(5, "b", "zk-3", "ping", 8*s))...)
	for _, l := range drawnOf(r).Lanes {
		if l.Kind == timeline.LaneNode {
			require.Equal(t, []trace.Instant{2e6, 2.001e9, 5.001e9}, l.Bars[0].Lives, "a server tells what it has heard, once")
			require.Equal(t, trace.Instant(10e9), l.Bars[0].Life)
			return
		}
	}
	require.Fail(t, "the servers have no row")
}

// TestNobodyRenewsTheKeyOfAProcessThatDied has a client whose process is started again, and renews what it has then.
func TestNobodyRenewsTheKeyOfAProcessThatDied(t *testing.T) {
	const story = "lock: {algorithm: watchdog, ttl: 10s}\nclients: {a: {work: 8s}, b: {work: 1s}}\n" +
		"faults: [{name: dies, at: 3s, crash: a, restart: 1s}]"
	const past = `
history registers=1 authority end=20s
acquisition id=1 client=a returned=6ms outcome=ok%s
grant acquisition=1 client=a from=2ms to=%s ended=deadline
copy node=redis-1 acquisition=1 client=a from=2ms to=%s expires=%s gone=expired
fault name=dies text="crash: a" fired begin=3s end=4s`
	renewed := func(at time.Duration) trace.Event {
		return trace.Event{At: trace.Instant(at), Step: trace.Step{Node: "redis-1", Does: trace.Execute, What: "EVAL", Alt: "renew", Peer: "a"}}
	}
	livesOf := func(crashed, until string) []trace.Instant {
		r := runOf(t, story, fmt.Sprintf(past, crashed, until, until, until), renewed(2*time.Second), renewed(7*time.Second))
		lanes := drawnOf(r).Lanes
		i := slices.IndexFunc(lanes, func(l timeline.Lane) bool { return l.Name == "redis-1" })
		return lanes[i].Bars[0].Lives
	}
	require.Equal(t, []trace.Instant{2e6, 2e9}, livesOf(" crashed=3s", "12s"))
	require.Equal(t, []trace.Instant{2e6, 2e9, 7e9}, livesOf("", "17s"), "the twin: it lives")
}

// TestAmberLiesOnBeliefsAlone looks at the rows of all stories: what marks a belief as one of several lies within it.
func TestAmberLiesOnBeliefsAlone(t *testing.T) {
	tints := 0
	for _, story := range stories {
		for _, run := range loadStory(t, story) {
			for _, lane := range drawnOf(run).Lanes {
				for _, tint := range lane.Bars {
					if tint.Sign != timeline.SignTint {
						continue
					}
					tints++
					require.True(t, slices.ContainsFunc(lane.Bars, func(b timeline.Bar) bool {
						return b.Sign == timeline.SignBelieves && b.From <= tint.From && tint.To <= b.To
					}), "%s: %s is marked from %d to %d", story, lane.Name, tint.From, tint.To)
				}
			}
		}
	}
	require.Positive(t, tints)
}

// TestWhoseLivesHaveSeveralTasksIsSaid: what is called a/2 is a after its restart.
func TestWhoseLivesHaveSeveralTasksIsSaid(t *testing.T) {
	const story = "lock: {algorithm: set-nx-lua, ttl: 10s}\nclients: {a: {work: 8s}, b: {work: 1s}}"
	textOf := func(task string) string {
		var b strings.Builder
		r := runOf(t, story, "history registers=1 authority end=20s\nacquisition id=1 client=a returned=6ms crashed=1s outcome=ok\n"+
			"acquisition id=2 client=a"+task+" invoked=12s returned=13s unlocked=14s outcome=ok")
		require.NoError(t, reports.Text(&b, []reports.Run{r}, reports.TextOptions{}))
		return strings.Join(strings.Fields(b.String()), " ")
	}
	require.Contains(t, textOf(" task=2"), "a/2 task 2 of a, counted over all lives of its process")
	require.NotContains(t, textOf(""), "counted over all lives")
}
