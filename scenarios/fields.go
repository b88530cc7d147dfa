package scenarios

import (
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/sim"
)

// fixedFields are the fields of a scenario that a variant cannot set.
var fixedFields = []string{"name", "variants", "expect", "measures"}

// scenarioFields is the table of a whole file.
var scenarioFields = mapping[Scenario]{
	name:  "scenario",
	doc:   "The whole file.",
	block: true,
	fields: []field[Scenario]{
		bind("name", name("a name"), func(s *Scenario) *string { return &s.Name },
			"What the scenario is called; a named scenario's file is called the same.").must(),
		bind("title", line("a line of text"), func(s *Scenario) *string { return &s.Title },
			"The story in one line."),
		bind("story", prose(), func(s *Scenario) *string { return &s.Story },
			"What happens, in two or three sentences for a newcomer."),
		bind("source", prose(), func(s *Scenario) *string { return &s.Source },
			"Where the story is from."),
		bind("claims", prose(), func(s *Scenario) *string { return &s.Claims },
			"What that source claims."),
		bind("finding", prose(), func(s *Scenario) *string { return &s.Finding },
			"Where what happens differs from the claim, and why."),
		bind("lock", lockFields.kind(), func(s *Scenario) *Lock { return &s.Lock },
			"The lock under test.").must(),
		bind("servers", serverFields.kind(), func(s *Scenario) *Servers { return &s.Servers },
			"The servers that the lock lives on.").or(nothingSet),
		bind("clients", lines(keyed("names", name("a client's name"), clientFields.kind(), clientName)),
			func(s *Scenario) *[]Client { return &s.Clients },
			"The clients, by name. A name must not look like a server's, nor be `storage`, `holder`, `master` or `leader`.").must(),
		bind("resource", resourceFields.kind(), func(s *Scenario) *Resource { return &s.Resource },
			"What the lock protects.").or(nothingSet),
		bind("network", networkFields.kind(), func(s *Scenario) *Network { return &s.Network },
			"How long messages take.").or(nothingSet),
		bind("clocks", lines(keyed("nodes", line("a node"), clockFields.kind(), clockNode)),
			func(s *Scenario) *[]Clock { return &s.Clocks },
			"Clocks that deviate from the start on, by node.").otherwise("all clocks are right"),
		bind("faults", lines(list(faultKind(), maxFaults)), func(s *Scenario) *[]sim.Fault { return &s.Faults },
			"What goes wrong. A fault without a name is called `fault-N`, N being its place in the list from 1.").
			otherwise("nothing"),
		bind("styles", oneOrMore(style(), len(history.StyleNames())), func(s *Scenario) *[]history.Style { return &s.Styles },
			"The client styles to play it in: when a client stops believing that it holds the lock.").otherwise("`careless`"),
		bind("expect", expectations(), func(s *Scenario) *Expect { return &s.Expect },
			"The verdicts that are expected, by property. Where they depend on the fencing mode or the client style, "+
				"a mapping of modes, of styles, or of one within the other. A property that is not mentioned may not be "+
				"violated; `any` allows every verdict but unknown, of one property or, in place of the mapping, of all.").
			otherwise("no property may be violated"),
		bind("measures", lines(keyed("measures", knownMeasure(), measureKind(), measureName)),
			func(s *Scenario) *[]MeasureBound { return &s.Measures },
			"What [measured values](#the-measures) are expected to be, by name. Those whose names end in -ns are times. A "+
				"value that was not measured is not as expected."),
		bind("progress", omitted(atLeast(1)), func(s *Scenario) *time.Duration { return &s.Progress },
			"How long somebody may wait before somebody acquires.").otherwise("progress and availability are not judged"),
		bind("load", loadFields.kind(), func(s *Scenario) *LoadBounds { return &s.Load },
			"How many requests per second the lock of one client process may send to its servers; without a bound load is not judged.").
			or(nothingSet),
		bind("until", omitted(atLeast(1)), func(s *Scenario) *time.Duration { return &s.Until },
			"When the run ends at the latest, in true time. A run that ends while a client is in its critical section, waits "+
				"for the lock or has critical sections left, or while a fault that heals keeps back its requests, is cut off: what it did not violate is `unknown`. Work that the scenario lets last forever, and waits "+
				"that nothing can end any more, do not count.").
			otherwise("as long as all that the scenario asks for can take one after the other: the last start, all work and thinking, " +
				"the longest waits, all faults with what they add, a lease for each fault and four more, twice `progress`; " +
				"at least 60s"),
		bind("bounds", boundsFields.kind(), func(s *Scenario) *Bounds { return &s.Bounds },
			"What ends a run that does not end by itself; its verdicts are then unknown.").or(nothingSet),
		bind("seed", seed(), func(s *Scenario) *uint64 { return &s.Seed },
			"The seed that is used unless another is asked for.").or("1"),
		variantsField(),
	},
}

func clientName(c *Client) *string { return &c.Name }

func clockNode(c *Clock) *string { return &c.Node }

func measureName(m *MeasureBound) *string { return &m.Name }

var lockFields = mapping[Lock]{
	name: "lock",
	doc:  "The lock under test.",
	fields: []field[Lock]{
		bind("algorithm", lockName(),
			func(l *Lock) *string { return &l.Algorithm },
			"Which lock it is: one that `locksim list locks` prints, such a library in another version, or the folder of a program "+
				"of one's own.").must(),
		bind("ttl", atLeast(time.Millisecond), func(l *Lock) *time.Duration { return &l.TTL },
			"The life of a lease, or how long a session outlives its client's silence, for locks that have either. Servers have "+
				"bounds: etcd and Chubby give what is nearest (whole seconds, at least `2s`; `1s` to `1m`), ZooKeeper 2 to 20 "+
				"ticks, Consul refuses what is not `10s` to `24h`.").or("10s"),
		bind("key", line("a line of text"), func(l *Lock) *string { return &l.Key },
			"What the lock is called at the servers.").or("lock"),
		bind("renew", omitted(atLeast(time.Millisecond)), func(l *Lock) *time.Duration { return &l.Renew },
			"How long a watchdog waits before it renews the lease.").otherwise("the algorithm's own"),
		bind("timeout", omitted(atLeast(1)), func(l *Lock) *time.Duration { return &l.Timeout },
			"How long one call to a server may take. Clients of servers of Redis that replicate each other have `3s` where neither "+
				"this nor the algorithm says; with Sentinels, or in a cluster, they send a request that failed up to three times "+
				"more, as go-redis does, and each time may take so long.").otherwise("the algorithm's own"),
		bind("acks", omitted(integer(1, maxServers)), func(l *Lock) *int { return &l.Acks },
			"How many replicas must acknowledge a grant, for locks that ask them (WAIT).").
			otherwise("the algorithm's own").of("redis"),
		bind("library", omitted(wordOf("java", "curator", "go-zookeeper")), func(l *Lock) *string { return &l.Library },
			"The client library whose handling of sessions is followed.").otherwise("the algorithm's own").of("zookeeper"),
		bind("lock-delay", optional(atLeast(0)), func(l *Lock) **time.Duration { return &l.LockDelay },
			"How long a lock that was lost, rather than released, is kept from others.").
			otherwise("the servers' own").of("consul", "chubby"),
	},
}

var clientFields = mapping[Client]{
	name: "client",
	doc:  "One client process, or several alike.",
	fields: []field[Client]{
		bind("count", integer(1, maxProcesses), func(c *Client) *int { return &c.Count },
			"How many processes. If there are more than one, they are called NAME-1, NAME-2, …").or("1"),
		bind("start", atLeast(0), func(c *Client) *time.Duration { return &c.Start },
			"When it begins, counted from the start of the run. One that a crash has restarted begins at once.").or("0s"),
		bind("style", optional(style()), func(c *Client) **history.Style { return &c.Style },
			"When it stops believing that it holds the lock.").otherwise("the style that the scenario is played in"),
		bind("tasks", integer(1, maxTasks), func(c *Client) *int { return &c.Tasks },
			"How many tasks the process runs at once, each doing all sections.").or("1"),
		bind("sections", integer(1, maxSections), func(c *Client) *int { return &c.Sections },
			"How often each task acquires, works and releases.").or("1"),
		bind("enters", omitted(integer(1, maxTasks)), func(c *Client) *int { return &c.Enters },
			"How often a section enters the lock before it works, and leaves it again. A lock that cannot be entered twice by its "+
				"holder blocks him.").otherwise("once"),
		bind("wait", special(atLeast(1), wordFor{"forever", forever}, wordFor{"try", 0}),
			func(c *Client) *time.Duration { return &c.Wait },
			"How long one call of Acquire may wait; `try` does not wait at all.").or("forever"),
		bind("again", omitted(atLeast(1)), func(c *Client) *time.Duration { return &c.Again },
			"The pause before it calls Acquire again after one that failed.").otherwise("it gives the section up"),
		bind("unlock-again", omitted(atLeast(1)), func(c *Client) *time.Duration { return &c.Unlock },
			"The pause before it calls Unlock once more after one that returned an error. Of a lock that was entered several times "+
				"only the last Unlock is repeated.").otherwise("it does not repeat Unlock"),
		bind("retry", retry(), func(c *Client) *Retry { return &c.Retry },
			"How a blocked Acquire polls.").otherwise("the algorithm's own"),
		through("work", special(atLeast(0), wordFor{"forever", forever}),
			func(c *Client) time.Duration {
				if c.Hangs {
					return forever
				}
				return c.Work
			},
			func(c *Client, d time.Duration) {
				if c.Hangs = d == forever; !c.Hangs {
					c.Work = d
				}
			},
			"The length of the critical section; `forever` is a worker that hangs: it reads, and writes only if `write` says when.").or("0s"),
		bind("read", atLeast(0), func(c *Client) *time.Duration { return &c.Read },
			"When in the section it reads the registers.").or("0s"),
		bind("write", optional(atLeast(0)), func(c *Client) **time.Duration { return &c.Write },
			"When in the section it writes them.").otherwise("at the section's end, if it has one"),
		bind("think", atLeast(0), func(c *Client) *time.Duration { return &c.Think },
			"The pause between two sections.").or("0s"),
		bind("stays", truth(), func(c *Client) *bool { return &c.Stays },
			"Whether the process stays up when its sections are done, with its connections, sessions and watches. The run does not "+
				"wait for it. A process that does not stay ends, and its connections close."),
		bind("servers", oneOrMore(line("a server"), maxServers), func(c *Client) *[]string { return &c.Servers },
			"Which servers of the ensemble it connects to, in this order.").
			otherwise("all, in an order of its own").of("zookeeper"),
	},
}

var retryFields = mapping[Retry]{
	name: "retry",
	doc:  "How a blocked Acquire polls.",
	fields: []field[Retry]{
		bind("delay", omitted(atLeast(1)), func(r *Retry) *time.Duration { return &r.Delay },
			"The pause between two tries.").otherwise("the algorithm's own"),
		bind("jitter", atLeast(0), func(r *Retry) *time.Duration { return &r.Jitter },
			"Up to this much is added to every pause at random.").or("0s"),
		bind("tries", omitted(integer(1, maxTries)), func(r *Retry) *int { return &r.Tries },
			"After how many tries it gives up.").otherwise("the algorithm's own"),
	},
}

// retry is the delay alone, or the mapping.
func retry() kind[Retry] {
	delay, table := atLeast(1), retryFields.kind()
	allowed := delay.allowed + ", or " + table.allowed
	return kind[Retry]{
		allowed: allowed, parts: table.parts,
		schema: func(s *schemas) object { return object{"anyOf": []object{delay.schema(s), table.schema(s)}} },
		read: func(r *reader, path string, n *yaml.Node) (Retry, bool) {
			if n.Kind == yaml.MappingNode {
				return table.read(r, path, n)
			}
			if !r.is(yaml.ScalarNode, path, n, allowed) {
				return Retry{}, false
			}
			d, ok := delay.read(r, path, n)
			return Retry{Delay: d}, ok
		},
		write: func(v Retry) *yaml.Node {
			switch v {
			case Retry{}:
				return nil
			case Retry{Delay: v.Delay}:
				return delay.write(v.Delay)
			}
			return table.write(v)
		},
	}
}

var resourceFields = mapping[Resource]{
	name: "resource",
	doc:  "What the lock protects: registers that are read and written, and how they defend themselves.",
	fields: []field[Resource]{
		bind("fencing", oneOrMore(fencing(), len(history.FencingNames())),
			func(r *Resource) *[]history.Fencing { return &r.Fencing },
			"The fencing modes to play it in, each on the same schedule.").otherwise("`none`"),
		bind("registers", integer(1, maxRegisters), func(r *Resource) *int { return &r.Registers },
			"How many registers a section reads and writes.").or("1"),
		bind("in", flag("storage", "servers"), func(r *Resource) *bool { return &r.Guarded },
			"Where they live: on a node of their own, or on the lock's own servers, which take an access in one step with the "+
				"proof that the lock is held. Only some locks can do that.").or("storage"),
		bind("latency", latency(), func(r *Resource) *sim.Latency { return &r.Latency },
			"How long a message between a client and the resource takes.").otherwise("the network's"),
	},
}

var networkFields = mapping[Network]{
	name: "network",
	doc:  "How long messages take.",
	fields: []field[Network]{
		bind("latency", latency(), func(n *Network) *sim.Latency { return &n.Latency },
			"How long a message takes one way; `lan` is a median of 0.3 ms with one in a hundred above 5 ms.").otherwise("`lan`"),
		bind("links", list(networkLinkFields.kind(), maxFaults), func(n *Network) *[]Link { return &n.Links },
			"Connections with a latency of their own; the last that matches counts."),
	},
}

var networkLinkFields = mapping[Link]{
	name: "network-link",
	doc:  "The connections between two sets of nodes, in both directions unless it says otherwise.",
	fields: []field[Link]{
		bind("from", nodes(), func(l *Link) *[]string { return &l.From }, "One end.").must(),
		bind("to", nodes(), func(l *Link) *[]string { return &l.To }, "The other.").must(),
		bind("oneway", truth(), func(l *Link) *bool { return &l.OneWay },
			"Only what travels from `from` to `to`.").otherwise("both ways"),
		bind("latency", latency(), func(l *Link) *sim.Latency { return &l.Latency }, "How long a message takes one way.").must(),
	},
}

var clockFields = mapping[Clock]{
	name: "clock",
	doc:  "How the clocks of a node deviate from true time from the start on.",
	fields: []field[Clock]{
		bind("offset", atLeast(-maxDuration), func(c *Clock) *time.Duration { return &c.Offset },
			"How far the wall clock is ahead; it may be negative.").or("0s"),
		bind("rate", rate(), func(c *Clock) *int64 { return &c.Rate },
			"How much faster than true time both clocks run, as 5000ppm or 0.5%; it may be negative.").or("0ppm"),
	},
}

// rate is how much faster than true time a clock runs, in parts per million; -1,000,000 would stand still.
func rate() kind[int64] {
	return ratio("a rate such as 5000ppm or 0.5%, above -100% and up to 100%", -million+1, million, ppm)
}

var loadFields = mapping[LoadBounds]{
	name: "load",
	doc: "How many requests the lock of one client process may send to its servers within any second. What its client library " +
		"sends on its own account, as pings of a session, does not count.",
	fields: []field[LoadBounds]{
		bind("waiter", omitted(integer(1, maxEvents)), func(l *LoadBounds) *int { return &l.Waiter },
			"While it asks for the lock: from the call of Acquire until it returns.").otherwise("no bound"),
		bind("holder", omitted(integer(1, maxEvents)), func(l *LoadBounds) *int { return &l.Holder },
			"At other times: renewals and releases.").otherwise("no bound"),
	},
}

var boundsFields = mapping[Bounds]{
	name: "bounds",
	doc:  "What ends a run that does not end by itself; its verdicts are then unknown. Bounds on its memory, which no file changes, do so too: 5,000,000 events of the trace, 1,000,000 records of the history, 1,000,000 messages in flight or connections, 2,000,000 pending events or stored entries.",
	fields: []field[Bounds]{
		bind("steps", integer(1, maxEvents), func(b *Bounds) *int { return &b.Steps },
			"The largest number of events.").or("1000000"),
		bind("messages", integer(1, maxEvents), func(b *Bounds) *int { return &b.Messages },
			"The largest number of messages sent.").or("1000000"),
	},
}
