package svg

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/trace"
)

// laidOut is a panel on which a hundred nanoseconds take a thousand pixels.
func laidOut(lanes ...timeline.Lane) *panel {
	return framed(&timeline.Timeline{Lanes: lanes})
}

func framed(run *timeline.Timeline) *panel {
	a := newAxis(timeline.Axis{
		To: 100, Stops: []timeline.Stop{{}, {At: 100, Column: 100}}, Panel: 100, Width: 100,
	}, 1000*Pixel+lastRoom)
	g := &page{Canvas: new(Canvas), schedule: &timeline.Schedule{Axis: a.Axis, Runs: []timeline.Timeline{*run}}}
	p := &panel{page: g, window: a.window(0), axis: a, run: run, keeper: keeperOf(run)}
	p.messages, _ = drawn(run)
	p.place(run.Lanes)
	return p
}

var (
	client  = timeline.Lane{Name: "a believes", Kind: timeline.LaneBelief, Node: "a"}
	server  = timeline.Lane{Name: "redis-1", Kind: timeline.LaneNode, Node: "redis-1"}
	storage = timeline.Lane{Name: "storage", Kind: timeline.LaneStorage}
)

func TestMessagesRunFromLaneToLaneAsLongAsTheyTravel(t *testing.T) {
	p := laidOut(client, server)
	a, ok := p.arrow(&timeline.Message{From: "a", To: "redis-1", Sent: 10, Received: 40})
	require.True(t, ok)
	require.True(t, a.arrives)
	require.Equal(t, Point{plotLeft + 100*Pixel, p.tracks[0].body + p.tracks[0].h}, a.from)
	require.Equal(t, Point{plotLeft + 400*Pixel, p.tracks[1].body}, a.to)

	back, ok := p.arrow(&timeline.Message{From: "redis-1", To: "a", Sent: 40, Received: 50})
	require.True(t, ok)
	require.Equal(t, a.to, back.from)
}

func TestALostMessageEndsOnItsWay(t *testing.T) {
	p := laidOut(client, server)
	a, ok := p.arrow(&timeline.Message{From: "a", To: "redis-1", Sent: 10, Received: trace.Never})
	require.True(t, ok)
	require.Equal(t, lost, a.fate)
	require.Less(t, a.to.Y, p.tracks[1].body)
}

func TestAMessageThatArrivesAfterAllElseHasNoHead(t *testing.T) {
	late := timeline.Message{From: "a", To: "redis-1", Sent: 10, Received: 1000}
	p := framed(&timeline.Timeline{Lanes: []timeline.Lane{client, server}, Messages: []timeline.Message{late}})
	a, ok := p.arrow(&late)
	require.True(t, ok)
	require.False(t, a.arrives)
	_, ok = p.arrow(&timeline.Message{From: "a", To: "somebody", Sent: 10, Received: 20})
	require.False(t, ok, "there is no lane to run to")
}

func TestMessagesToServersThatKeepTheLockTogetherRunToTheirLane(t *testing.T) {
	ensemble := timeline.Lane{Name: "ZooKeeper", Kind: timeline.LaneNode, Node: "ZooKeeper"}
	p := framed(&timeline.Timeline{
		Lanes:    []timeline.Lane{client, ensemble, storage},
		Messages: []timeline.Message{{From: "a", To: "zk-2", Sent: 10, Received: 20, Matters: true}},
	})
	a, ok := p.arrow(p.messages[0])
	require.True(t, ok)
	require.Equal(t, p.tracks[1].body, a.to.Y)
}

func TestOfTooManyMessagesThoseAreDrawnThatANumberedMomentTellsOf(t *testing.T) {
	run := &timeline.Timeline{Moments: []timeline.Moment{{At: 20, Number: 1}, {At: 30}}}
	for i := range 2 * mostMessages {
		at := trace.Instant(i)
		run.Messages = append(run.Messages, timeline.Message{Sent: at, Received: at + 10, Matters: true})
	}
	list, all := drawn(run)
	require.False(t, all)
	require.Equal(t, []trace.Instant{10, 20}, []trace.Instant{list[0].Sent, list[1].Sent})
	require.Len(t, list, 2)
}

func TestRepliesAreDashedLateOnesBoldWithTheirDelay(t *testing.T) {
	run := &timeline.Timeline{Lanes: []timeline.Lane{client, server}, Messages: []timeline.Message{
		{From: "a", To: "redis-1", Sent: 10, Received: 30, What: "SET", Matters: true, Late: true},
		{From: "redis-1", To: "a", Sent: 50, Received: 60, What: "SET", Matters: true, Reply: true},
		{From: "a", To: "redis-1", Sent: 70, Received: trace.Never, What: "DEL", Matters: true},
	}}
	p := framed(run)
	p.arrows()
	p.delays()
	drawing := p.body.String()
	request, reply := p.styles[0], p.styles[2] // each is followed by its head
	require.Contains(t, request.form, "stroke-width:2.5")
	require.NotContains(t, request.form, "stroke-dasharray")
	require.Contains(t, reply.form, "stroke-dasharray:4 3")
	require.NotContains(t, reply.form, "stroke-width")
	require.Contains(t, drawing, ">SET 20ns</text>")
	require.Contains(t, drawing, ">DEL lost</text>")
}

func TestAMessageThatDoesNotArriveSaysWhichItIsAndWhatBecameOfIt(t *testing.T) {
	other := timeline.Lane{Name: "redis-2", Kind: timeline.LaneNode, Node: "redis-2"}
	stalled := timeline.Lane{Kind: timeline.LaneNetwork, Bars: []timeline.Bar{{From: 5, To: 100, Label: "stalled"}}}
	message := func(from, to, what string) timeline.Message {
		return timeline.Message{From: from, To: to, What: what, Sent: 10, Received: trace.Never, Matters: true}
	}
	answer, passed := message("redis-1", "a", "GET"), message("redis-1", "redis-2", "SET")
	answer.Reply, passed.Reply = true, true
	waiting, underway := passed, message("a", "redis-1", "DEL")
	waiting.Late, underway.OnItsWay = true, true
	for want, c := range map[string]struct {
		message timeline.Message
		network []timeline.Lane
	}{
		"DEL lost":             {message: message("a", "redis-1", "DEL")},
		"answer to GET lost":   {message: answer},
		"SET to redis-2 lost":  {message: passed, network: []timeline.Lane{stalled}},
		"SET to redis-2 waits": {message: waiting, network: []timeline.Lane{stalled}},
		"DEL on its way":       {message: underway},
	} {
		p := framed(&timeline.Timeline{
			Lanes: append(c.network, client, server, other), Messages: []timeline.Message{c.message},
		})
		p.arrows()
		p.delays()
		require.Contains(t, p.body.String(), ">"+want+"</text>")
	}
}

func TestALongNameIsCutAndTheKindOfTheLaneIsNot(t *testing.T) {
	long := timeline.Lane{Title: strings.Repeat("long-", 20) + " granted", Node: strings.Repeat("long-", 20)}
	p := laidOut(client)
	p.nameAt(&track{Lane: &long}, 0)
	require.Contains(t, p.body.String(), ">granted</text>")
	require.Contains(t, p.body.String(), "long…ng-</text>")
}

func TestWhatOutlastsTheGrantIsShownAloneAsNotGranted(t *testing.T) {
	lane := timeline.Lane{Bars: []timeline.Bar{
		{From: 20, To: 40, Sign: timeline.SignGranted}, {From: 60, To: 70, Sign: timeline.SignGranted},
	}}
	require.Equal(t, []stretch{{10, 20}, {40, 60}, {70, 90}},
		rest(&lane, &timeline.Bar{From: 10, To: 90, Sign: timeline.SignLapsed}))
}

func TestWhatAServerKeepsShrinksAndIsWholeAgainWhenItIsRenewed(t *testing.T) {
	p := laidOut(server)
	b := timeline.Bar{From: 0, To: 60, Sign: timeline.SignLife, Lives: []trace.Instant{0, 20}, Life: 40}
	p.wedge(&b, Box{plotLeft, 0, 600 * Pixel, 40 * Pixel})
	// Half of it is left after half of its life; then it is whole, and nothing is left at the end.
	want := new(Outline).through([]Point{
		{plotLeft, 400}, {plotLeft, 0}, {plotLeft + 2000, 200}, {plotLeft + 2000, 0}, {plotLeft + 6000, 400},
		{plotLeft + 6000, 400},
	}).Close()
	require.Contains(t, p.body.String(), want.String())
}

func TestLevelsBeginAtNothingWhereThatShowsTheSteps(t *testing.T) {
	lane := func(values ...int64) *track {
		l := &timeline.Lane{Kind: timeline.LaneLevel}
		for _, v := range values {
			l.Levels = append(l.Levels, timeline.Level{Value: v})
		}
		return &track{Lane: l, h: 40 * Pixel}
	}
	low, high := lane(1, 2, 3).bounds()
	require.Equal(t, []int64{0, 3}, []int64{low, high})
	low, high = lane(1<<32+1, 1<<32+4).bounds()
	require.Equal(t, []int64{1<<32 + 1, 1<<32 + 4}, []int64{low, high})
	low, high = lane(-5, 5).bounds()
	require.Equal(t, []int64{-5, 5}, []int64{low, high})
	require.Less(t, lane(0, 3).level(3), lane(0, 3).level(1), "more stands higher")
}
