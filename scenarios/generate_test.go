package scenarios

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// durations from least upwards, down to the nanosecond.
func durations(least time.Duration) *rapid.Generator[time.Duration] {
	return durationsUpTo(least, maxDuration)
}

func durationsUpTo(least, most time.Duration) *rapid.Generator[time.Duration] {
	return rapid.Map(rapid.Int64Range(int64(least), int64(most)), func(n int64) time.Duration { return time.Duration(n) })
}

// maybe draws a value or none.
func maybe[V any](t *rapid.T, g *rapid.Generator[V], name string) *V {
	return rapid.Ptr(g, true).Draw(t, name)
}

func orZero[V any](t *rapid.T, g *rapid.Generator[V], name string) V {
	var none V
	if v := maybe(t, g, name); v != nil {
		return *v
	}
	return none
}

// texts are awkward for YAML: they look like other things, or have its signs in them.
func texts() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{"null", "true", "~", "12", "1e3", "0x2a", "- a", "a: b", "a #b", "{a}", "[", "'", `"\`, "é – ∞", "*", "&a", "!x", "%", "@", "`", "no", "y", "a,b", "…"}),
		rapid.StringMatching(`[ -~]{0,20}[!-~]`),
	)
}

func lineTexts() *rapid.Generator[string] {
	return texts().Filter(func(s string) bool { return s == tidy(s) && s != "" })
}

// unmistakable refuses words that package sim prints without quotes though YAML does not take them for text.
func unmistakable(s string) bool { return !slices.Contains(taken, s) }

func proseTexts() *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(texts(), 0, 30), func(words []string) string {
		text := ""
		for i, w := range words {
			text += w + []string{" ", "\n", " ", " "}[i%4]
		}
		return tidy(text)
	})
}

// distinct draws some of the values; nil for none of them, as an absent field has it.
func distinct[V comparable](values []V) *rapid.Generator[[]V] {
	lists := rapid.SliceOfNDistinct(rapid.SampledFrom(values), 0, len(values), rapid.ID[V])
	return rapid.Map(lists, func(list []V) []V {
		if len(list) == 0 {
			return nil
		}
		return list
	})
}

func latencies() *rapid.Generator[sim.Latency] {
	return rapid.Custom(func(t *rapid.T) sim.Latency {
		delays := rapid.SliceOfN(durations(0), 1, 5).Draw(t, "delays")
		slices.Sort(delays)
		switch len(delays) {
		case 1:
			return sim.Constant(delays[0])
		case 2:
			return sim.UniformLatency(delays[0], delays[1])
		case 3:
			return sim.LAN()
		}
		shares := rapid.SliceOfNDistinct(rapid.Int64Range(1, million-1), len(delays)-2, len(delays)-2, rapid.ID[int64]).Draw(t, "shares")
		shares = append(shares, 0, million)
		slices.Sort(shares)
		var l sim.Latency
		for i, d := range delays {
			l = append(l, sim.Quantile{Share: shares[i], Delay: d})
		}
		return l
	})
}

// clientNames are the processes of the clients of generated scenarios.
var clientNames = []string{"a", "b-1", "b-2", "n"}

// deployment is where generated faults happen: the servers, and whether there is a node for the protected resource.
type deployment struct {
	Servers
	guarded bool
}

// hosts are globs and names of servers, and those that clients connect to besides.
func (d deployment) hosts() []string {
	names := d.Names()
	list := []string{names[0], names[len(names)-1], d.Facts().Node + "-*", d.Facts().Node + "-?"}
	return append(list, d.roles()[1:]...)
}

func (d deployment) hostsAndStorage() []string {
	if d.guarded {
		return d.hosts()
	}
	return append(d.hosts(), Storage)
}

func deployments() *rapid.Generator[deployment] {
	return rapid.Custom(func(t *rapid.T) deployment {
		s := Servers{Masters: 1, Disk: "honest"}
		s.Kind = rapid.SampledFrom(append(kindNames(), "redis", "redis", "zookeeper")).Draw(t, "servers")
		switch s.Kind {
		case "redis":
			redisServers(t, &s)
		case "zookeeper":
			s.Nodes = rapid.SampledFrom([]int{0, 1, 3, 5}).Draw(t, "nodes")
			s.Leader = rapid.IntRange(0, s.Count()).Draw(t, "leader")
			s.Tick = orZero(t, durations(time.Millisecond), "tick")
			s.SyncLimit = orZero(t, rapid.IntRange(1, 9), "sync-limit")
			s.Persistence = rapid.SampledFrom([]string{"", "lazy", "always"}).Draw(t, "persistence")
		case "mysql", "postgres":
			s.KeepAlive = orZero(t, durations(time.Millisecond), "keep-alive")
			s.IdleTimeout = orZero(t, durations(time.Millisecond), "idle-timeout")
			if s.Kind == "postgres" {
				s.Pool = orZero(t, rapid.IntRange(1, 9), "pool")
			}
		}
		return deployment{s, rapid.IntRange(0, 4).Draw(t, "guarded") == 0}
	})
}

// redisServers draws servers that know nothing of each other, a master with replicas and perhaps Sentinels, or a cluster.
func redisServers(t *rapid.T, s *Servers) {
	s.Persistence = rapid.SampledFrom([]string{"", "none", "rdb", "lazy", "everysec", "always"}).Draw(t, "persistence")
	if s.Persistence == "everysec" || s.Persistence == "always" {
		s.Disk = rapid.SampledFrom([]string{"honest", "lies"}).Draw(t, "disk")
	}
	switch rapid.IntRange(0, 2).Draw(t, "replication") {
	case 0:
		s.Masters = rapid.IntRange(1, 9).Draw(t, "masters")
		return
	case 1:
		s.Replicas, s.Sentinels = rapid.IntRange(1, 5).Draw(t, "replicas"), rapid.IntRange(0, 5).Draw(t, "sentinels")
	case 2:
		s.Cluster, s.Masters, s.Replicas = true, rapid.IntRange(3, 9).Draw(t, "masters"), rapid.IntRange(0, 2).Draw(t, "replicas")
	}
	if s.Replicas > 0 {
		s.FullSync = orZero(t, durationsUpTo(time.Millisecond, time.Minute-1), "full-sync")
	}
	if s.MinReplicas = rapid.IntRange(0, s.Replicas).Draw(t, "min-replicas"); s.MinReplicas > 0 {
		s.MaxLag = orZero(t, durations(time.Second), "max-lag")
	}
	if s.Sentinels > 0 {
		s.Failover = orZero(t, durations(time.Millisecond), "failover-timeout")
	}
	if s.Sentinels > 0 || s.Cluster {
		s.DownAfter = orZero(t, durations(time.Millisecond), "down-after")
	}
}

func faults(d deployment, others []string) *rapid.Generator[sim.Fault] {
	return rapid.Custom(func(t *rapid.T) sim.Fault {
		f := sim.Fault{Trigger: triggers(d, others).Draw(t, "trigger")}
		message := isMessage(f.Trigger)
		kinds := []sim.ActionKind{sim.Pause, sim.Crash, sim.SetClock, sim.Cut, sim.Stall, sim.Break}
		if f.Trigger.When == sim.At && f.Trigger.At == 0 {
			kinds = append(kinds, sim.SameRandom)
		}
		if message {
			kinds = append(kinds, sim.Delay)
		}
		if f.Trigger.Step.Does == trace.Send || f.Trigger.Step.Does == trace.Execute && f.Trigger.When == sim.Before {
			kinds = append(kinds, sim.Error)
		}
		for _, k := range []sim.ActionKind{sim.Promote, sim.Evict, sim.Snapshot, sim.EndSession} {
			field, _ := faultFields.field(k.String())
			possible := k != sim.Promote || d.elects()
			if k == sim.Snapshot && d.Kind == "redis" {
				possible = d.Persistence == "rdb"
			}
			if possible && field.knownTo(d.Kind) {
				kinds = append(kinds, k)
			}
		}
		f.Action = action(t, d, rapid.SampledFrom(kinds).Draw(t, "kind"), message)
		if k := f.Action.Kind; k == sim.Pause || k == sim.SetClock || k == sim.Cut || k == sim.Stall {
			f.For = orZero(t, durations(1), "for")
		}
		return f
	})
}

func action(t *rapid.T, d deployment, kind sim.ActionKind, message bool) sim.Action {
	a := sim.Action{Kind: kind}
	server := rapid.SampledFrom(append(d.Names()[:d.Count():d.Count()], d.roles()[1:]...))
	target := rapid.SampledFrom(slices.Concat(clientNames, d.Names(), d.roles()))
	switch kind {
	case sim.Pause:
		a.Node = target.Draw(t, "node")
	case sim.Crash:
		a.Node = server.Draw(t, "server")
		a.Host = rapid.Bool().Draw(t, "host")
		a.Restart = orZero(t, durations(1), "restart")
		if a.Restart != 0 {
			a.Keep = rapid.SampledFrom([]string{"", "nothing", "all"}).Draw(t, "keep")
		}
	case sim.SetClock:
		a.Node = target.Draw(t, "node")
		a.Step = orZero(t, durations(1), "step") * time.Duration(rapid.SampledFrom([]int{-1, 1}).Draw(t, "sign"))
		a.Rate = rapid.Int64Range(-million+1, million).Draw(t, "rate")
		if a.Step != 0 {
			a.Of = rapid.SampledFrom([]sim.ClockOf{sim.WallOnly, sim.BothClocks}).Draw(t, "of")
		} else if a.Rate == 0 {
			a.Rate = 1
		}
	case sim.Cut, sim.Stall:
		a.Link = links(t, d)
	case sim.Break:
		a.RST = rapid.Bool().Draw(t, "rst")
		a.Lose = rapid.SampledFrom([]sim.Loss{sim.LoseNothing, sim.LoseRequest, sim.LoseReply}).Draw(t, "lose")
		if a.This = message && rapid.Bool().Draw(t, "this"); !a.This {
			a.Link = links(t, d)
			a.Link.OneWay = false
		}
	case sim.Delay:
		a.By = durations(1).Draw(t, "by")
	case sim.Error:
		texts := lineTexts().Filter(unmistakable)
		if known := d.Facts().Errors; known != nil {
			texts = rapid.SampledFrom(known)
		}
		a.Text = texts.Draw(t, "text")
	case sim.Promote:
		a.Node = server.Filter(func(name string) bool {
			return d.Kind != "redis" || d.Cluster || d.Sentinels > 0 || name != "redis-1" && name != "master"
		}).Draw(t, "server")
		if d.Kind == "redis" {
			a.Demote = orZero(t, durations(1), "demote")
			a.Nodes = distinct([]string{"a", "b-*", "holder", "n"}).Draw(t, "redirect")
		}
	case sim.Evict:
		a.Node, a.Key = server.Draw(t, "server"), orZero(t, lineTexts().Filter(unmistakable), "key")
	case sim.Snapshot:
		a.Node = server.Draw(t, "server")
	case sim.EndSession:
		a.Node = rapid.SampledFrom(append(clientNames, "holder")).Draw(t, "client")
	case sim.SameRandom:
		a.Nodes = rapid.SliceOfNDistinct(rapid.SampledFrom(clientNames), 2, 3, rapid.ID[string]).Draw(t, "twins")
	}
	return a
}

func links(t *rapid.T, d deployment) sim.Link {
	ends := func(names ...string) []string {
		return rapid.SliceOfN(rapid.SampledFrom(names), 1, 3).Draw(t, "ends")
	}
	l := sim.Link{OneWay: rapid.Bool().Draw(t, "oneway")}
	if d.connects() && rapid.Bool().Draw(t, "between servers") {
		l.From, l.To = ends(d.hosts()[0], d.hosts()[2]), ends(d.hosts()[1:]...)
		return l
	}
	l.From, l.To = ends("a", "b-*", "holder", "?"), ends(d.hostsAndStorage()...)
	return l
}

func triggers(d deployment, others []string) *rapid.Generator[sim.Trigger] {
	nodes := &directory{peers: d.connects()}
	return rapid.Custom(func(t *rapid.T) sim.Trigger {
		when := rapid.SampledFrom([]sim.When{sim.At, sim.Before, sim.After}).Draw(t, "when")
		if when == sim.At {
			return sim.Trigger{At: orZero(t, durations(1), "at")}
		}
		trigger := sim.Trigger{When: when, Nth: rapid.SampledFrom([]int{0, 2, 77}).Draw(t, "nth")}
		if when == sim.After {
			trigger.Plus = orZero(t, durations(1), "plus")
		}
		name := rapid.SampledFrom(trace.DoesNames()).Filter(func(name string) bool {
			return d.elects() || name != "promote" && name != "demote"
		}).Draw(t, "does")
		does, _ := trace.ParseDoes(name)
		p := sim.Pattern{Does: does, What: rapid.SampledFrom([]string{"", "SET", "release", "*", "a b"}).Draw(t, "what")}
		if does == trace.Begin || does == trace.End {
			p.What = rapid.SampledFrom(append(others, "", "*")).Draw(t, "fault")
		} else {
			var whose, peers []string
			if who := nodes.stepsOf(does); who&isClient != 0 {
				whose, peers = []string{"a", "b-*", "holder"}, d.hostsAndStorage()
			} else {
				whose, peers = d.hosts(), []string{"a", "holder"}
			}
			p.Node = rapid.SampledFrom(append(whose, "", "*")).Draw(t, "node")
			if does <= trace.Reply {
				p.Peer = rapid.SampledFrom(append(peers, "", "*")).Draw(t, "peer")
			}
		}
		trigger.Step = p
		return trigger
	})
}

func clients(t *rapid.T, d deployment, name string, count int) Client {
	c := Client{
		Name: name, Count: count, Work: durations(0).Draw(t, "work"),
		Start:    orZero(t, durations(0), "start"),
		Style:    maybe(t, rapid.SampledFrom([]history.Style{history.Careless, history.Attentive, history.Careful}), "style"),
		Tasks:    rapid.IntRange(1, maxTasks).Draw(t, "tasks"),
		Sections: rapid.IntRange(1, maxSections).Draw(t, "sections"),
		Enters:   orZero(t, rapid.IntRange(1, maxTasks), "enters"),
		Wait:     rapid.SampledFrom([]time.Duration{0, forever, time.Second, 1}).Draw(t, "wait"),
		Again:    orZero(t, durations(1), "again"),
		Retry: Retry{
			Delay: orZero(t, durations(1), "delay"), Jitter: orZero(t, durations(0), "jitter"),
			Tries: orZero(t, rapid.IntRange(1, maxTries), "tries"),
		},
		Think: orZero(t, durations(0), "think"), Busy: rapid.Bool().Draw(t, "busy"), Stays: rapid.Bool().Draw(t, "stays"),
		Unlock: orZero(t, durations(1), "unlock-again"),
	}
	if rapid.Bool().Draw(t, "own lock") {
		c.Lock = OwnLock{
			Algorithm: orZero(t, rapid.Just("set-nx-lua"), "own algorithm"), TTL: durations(time.Millisecond).Draw(t, "own ttl"),
			Timeout: orZero(t, durations(1), "own timeout"),
		}
		c.Lock.Renew = durationsUpTo(time.Millisecond, c.Lock.TTL).Draw(t, "own renew")
	}
	c.Read = min(c.Work, orZero(t, durations(0), "read"))
	if w := maybe(t, durations(0), "write"); w != nil {
		*w = max(c.Read, min(c.Work, *w))
		c.Write = w
	}
	if d.Kind == "zookeeper" {
		c.Servers = distinct(d.Names()).Draw(t, "hosts")
	}
	if c.Hangs = rapid.Bool().Draw(t, "hangs"); c.Hangs {
		c.Work = 0
	}
	c.Late = orZero(t, durations(1), "renews-late")
	c.Connected = rapid.Bool().Draw(t, "connected")
	if !d.guarded {
		c.Forgets = rapid.Bool().Draw(t, "forgets")
	}
	if !d.guarded && !c.Hangs {
		c.Passes = orZero(t, durations(1), "passes-token")
	}
	return c
}

func lockValues(t *rapid.T, d deployment) Lock {
	l := Lock{
		Algorithm: "redlock", TTL: durations(time.Millisecond).Draw(t, "ttl"), Key: lineTexts().Draw(t, "key"),
		Timeout: orZero(t, durations(1), "timeout"),
	}
	l.Renew = orZero(t, durationsUpTo(time.Millisecond, l.TTL), "renew")
	switch d.Kind {
	case "redis":
		l.Acks = rapid.IntRange(0, d.Replicas).Draw(t, "acks")
	case "zookeeper":
		l.Library = orZero(t, rapid.SampledFrom([]string{"java", "curator", "go-zookeeper"}), "library")
	case "consul", "chubby":
		l.LockDelay = maybe(t, durations(0), "lock-delay")
	}
	return l
}

// scenarioValues draws scenarios as Parse would make them, without variants.
func scenarioValues() *rapid.Generator[*Scenario] {
	return rapid.Custom(func(t *rapid.T) *Scenario {
		d := deployments().Draw(t, "deployment")
		s := &Scenario{
			Name:    rapid.StringMatching(`[a-z][a-z0-9]{0,5}(-[a-z0-9]{1,5}){0,3}`).Draw(t, "name"),
			Lock:    lockValues(t, d),
			Servers: d.Servers,
			Clients: []Client{clients(t, d, "a", 1), clients(t, d, "b", 2), clients(t, d, "n", 1)},
			Until:   durations(1).Draw(t, "until"),
			Bounds:  Bounds{Steps: 5, Messages: 1_000_000},
			Seed:    rapid.Uint64().Draw(t, "seed"),
		}
		s.Title = orZero(t, lineTexts(), "title")
		s.Story, s.Finding = proseTexts().Draw(t, "story"), proseTexts().Draw(t, "finding")
		s.Progress = orZero(t, durations(1), "progress")
		s.Load.Waiter = orZero(t, rapid.IntRange(1, 1000), "waiter's load")
		s.Load.Holder = orZero(t, rapid.IntRange(1, 1000), "holder's load")
		s.Resource = Resource{Registers: rapid.IntRange(1, maxRegisters).Draw(t, "registers"), Guarded: d.guarded}
		if !d.guarded {
			s.Resource.Latency = orZero(t, latencies(), "latency")
		}
		s.Network.Latency = orZero(t, latencies(), "network")
		if rapid.Bool().Draw(t, "linked") {
			s.Network.Links = []Link{{Link: sim.Link{From: []string{"a"}, To: d.Names()}, Latency: latencies().Draw(t, "link")}}
		}
		for _, name := range distinct(slices.Concat(clientNames, d.Names())).Draw(t, "clocks") {
			rate := rapid.Int64Range(-million+1, million).Draw(t, "rate")
			s.Clocks = append(s.Clocks, Clock{Node: name, Offset: -durations(0).Draw(t, "offset"), Rate: rate})
		}
		n := rapid.IntRange(0, 4).Draw(t, "faults")
		for i := range n {
			f := faults(d, []string{fmt.Sprintf("fault-%d", (i+1)%n+1)}[:min(n-1, 1)]).Draw(t, "fault")
			s.Faults = append(s.Faults, f)
			s.Until = max(s.Until, f.Trigger.At)
		}
		for _, c := range s.Clients {
			s.Until = max(s.Until, c.Start)
		}
		judge(t, s)
		return s
	})
}

// judge draws the modes and styles, what is expected of them, and bounds of measures.
func judge(t *rapid.T, s *Scenario) {
	modes := []history.Fencing{history.Unfenced, history.CheckThenWrite, history.FencedWrite, history.TokenEquality}
	if s.Resource.Guarded {
		modes = modes[:1]
	}
	s.Resource.Fencing = distinct(modes).Draw(t, "modes")
	s.Styles = distinct([]history.Style{history.Careless, history.Careful}).Draw(t, "styles")
	if rapid.IntRange(0, 7).Draw(t, "nothing expected") == 0 {
		s.Expect = Expect(nil).OrAny()
		return
	}
	outcomes := rapid.SampledFrom([]Expectation{
		{Verdict: checker.Held}, {Verdict: checker.Violated}, {Verdict: checker.Vacuous}, {Verdict: checker.NotJudged}, {Any: true},
	})
	add := func(x Expectation) {
		o := outcomes.Draw(t, "outcome")
		x.Verdict, x.Any = o.Verdict, o.Any
		s.Expect = append(s.Expect, x)
	}
	for p := checker.MutualExclusion; p < checker.Progress; p++ {
		switch rapid.IntRange(0, 4).Draw(t, "expected by") {
		case 0:
			add(Expectation{Property: p})
		case 1:
			for _, f := range s.Resource.Fencing {
				add(Expectation{Property: p, Fencing: &f})
			}
		case 2:
			for _, x := range s.Styles {
				add(Expectation{Property: p, Style: &x})
			}
		case 3:
			for _, f := range s.Resource.Fencing {
				for _, x := range s.Styles {
					add(Expectation{Property: p, Fencing: &f, Style: &x})
				}
			}
		}
	}
	s.Expect.sort()
	for _, name := range distinct([]string{"overtakes-max", "wait-max-ns", "refusals"}).Draw(t, "measures") {
		m := MeasureBound{Name: name, Min: maybe(t, rapid.Int64Range(0, 99), "min"), Max: maybe(t, rapid.Int64Range(99, maxCount), "max")}
		if m.Min != nil || m.Max != nil {
			s.Measures = append(s.Measures, m)
		}
	}
}
