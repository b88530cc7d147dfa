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
			"The scenario's name; the file of a named scenario has the same name.").must(),
		bind("title", line("a line of text"), func(s *Scenario) *string { return &s.Title },
			"A summary in one line."),
		bind("story", prose(), func(s *Scenario) *string { return &s.Story },
			"What happens, in two or three sentences for a reader who is new to the topic."),
		bind("source", prose(), func(s *Scenario) *string { return &s.Source },
			"Where the scenario comes from."),
		bind("claims", prose(), func(s *Scenario) *string { return &s.Claims },
			"What the source claims."),
		bind("finding", prose(), func(s *Scenario) *string { return &s.Finding },
			"How the result differs from the claim, and why."),
		bind("lock", lockFields.kind(), func(s *Scenario) *Lock { return &s.Lock },
			"The lock under test.").must(),
		bind("locks", lines(keyed("names", name("a lock's name"), namedLockFields.kind(), lockKey)),
			func(s *Scenario) *[]NamedLock { return &s.Named },
			"Several locks, by name, which are all like `lock`. A lock's name is its key on the servers. Each protects a resource of "+
				"its own, as `resource` describes it, which a critical section accesses while it holds the lock. Verdicts on what a lock "+
				"promises are given for each lock; `progress` is about clients, each of which waits until it has all the locks "+
				"that it takes.").otherwise("one lock, called `lock.key`"),
		bind("servers", serverFields.kind(), func(s *Scenario) *Servers { return &s.Servers },
			"The servers that keep the lock.").or(nothingSet),
		bind("clients", lines(keyed("names", name("a client's name"), clientFields.kind(), clientName)),
			func(s *Scenario) *[]Client { return &s.Clients },
			"The clients, by name. A name must not look like a server's, nor be `storage`, `holder`, `master` or `leader`.").must(),
		bind("resource", resourceFields.kind(), func(s *Scenario) *Resource { return &s.Resource },
			"What the lock protects.").or(nothingSet),
		bind("network", networkFields.kind(), func(s *Scenario) *Network { return &s.Network },
			"The latency of messages.").or(nothingSet),
		bind("clocks", lines(keyed("nodes", line("a node"), clockFields.kind(), clockNode)),
			func(s *Scenario) *[]Clock { return &s.Clocks },
			"Clocks that are wrong from the start, by node.").otherwise("all clocks are accurate"),
		bind("faults", lines(list(faultKind(), maxFaults)), func(s *Scenario) *[]sim.Fault { return &s.Faults },
			"The faults. A fault without a name is called `fault-N`, where N is its position in the list, starting at 1.").
			otherwise("none"),
		bind("styles", oneOrMore(style(), len(history.StyleNames())), func(s *Scenario) *[]history.Style { return &s.Styles },
			"The client styles with which the scenario is run. A style says when a client stops believing that it holds the lock: a "+
				"careless client when it calls Unlock, an attentive one also when it is notified that it lost the lock, a careful one "+
				"also at the deadline that its lease states.").otherwise("`careless`"),
		bind("expect", expectations(), func(s *Scenario) *Expect { return &s.Expect },
			"The expected verdicts, by property. If they depend on the fencing mode or the client style, a mapping of modes, of "+
				"styles, or of one within the other. A property that is not mentioned must not be violated; `any` allows every "+
				"verdict except unknown, for one property or, in place of the mapping, for all.").
			otherwise("no property may be violated"),
		bind("measures", lines(keyed("measures", knownMeasure(), measureKind(), measureName)),
			func(s *Scenario) *[]MeasureBound { return &s.Measures },
			"The expected [measured values](#the-measures), by name. Names that end in -ns are durations. A measure without a value in "+
				"the run is not as expected."),
		bind("progress", omitted(atLeast(1)), func(s *Scenario) *time.Duration { return &s.Progress },
			"How long clients may wait without any of them acquiring the lock.").otherwise("progress and availability are not judged"),
		bind("load", loadFields.kind(), func(s *Scenario) *LoadBounds { return &s.Load },
			"How many requests per second the lock of one client process may send to its servers. Without a bound, load is not judged.").
			or(nothingSet),
		bind("until", omitted(atLeast(1)), func(s *Scenario) *time.Duration { return &s.Until },
			"The latest end of the run, in true time. A run is cut off if, at this moment, a client is in its critical section, "+
				"waits for the lock, or has critical sections left, or if its requests are held up by a fault that would heal. "+
				"Properties that a run which was cut off did not violate are `unknown`. Work that lasts forever by the scenario, "+
				"and waits that nothing can end any more, do not count.").
			otherwise("long enough for everything in the scenario to happen one after the other: the last start, all work " +
				"and thinking, the longest waits, all faults and the delays that they add, one lease for each fault and four more, the " +
				"servers' `keep-alive` and `idle-timeout` as often, for what dead clients keep in a fair lock's list, and twice " +
				"`progress`, on the slowest clock; at least 60s"),
		bind("bounds", boundsFields.kind(), func(s *Scenario) *Bounds { return &s.Bounds },
			"Limits that end a run which does not end by itself; its verdicts are then unknown.").or(nothingSet),
		bind("seed", seed(), func(s *Scenario) *uint64 { return &s.Seed },
			"The seed, unless the command line names another.").or("1"),
		variantsField(),
	},
}

func clientName(c *Client) *string { return &c.Name }

func lockKey(l *NamedLock) *string { return &l.Name }

func clockNode(c *Clock) *string { return &c.Node }

func measureName(m *MeasureBound) *string { return &m.Name }

var lockFields = ofBackends(mapping[Lock]{
	name: "lock",
	doc:  "The lock under test.",
	fields: []field[Lock]{
		bind("algorithm", lockName(),
			func(l *Lock) *string { return &l.Algorithm },
			"The lock: a name that `locksim list locks` prints, a library with another version, or the folder of your own client "+
				"of a library.").must(),
		bind("ttl", atLeast(time.Millisecond), func(l *Lock) *time.Duration { return &l.TTL },
			"The time to live of the lease, or the time-out of the session, for locks that have either. Servers have limits: etcd "+
				"and Chubby grant the nearest possible value (whole seconds from `2s` on; `1s` to `1m`), Hazelcast counts whole "+
				"seconds, ZooKeeper grants 2 to 20 ticks, and Consul refuses values outside of `10s` to `24h`.").or("10s"),
		bind("key", line("a line of text"), func(l *Lock) *string { return &l.Key },
			"The lock's name on the servers.").or("lock"),
		bind("renew", omitted(atLeast(time.Millisecond)), func(l *Lock) *time.Duration { return &l.Renew },
			"The interval after which a lock that renews its lease does so.").otherwise("the algorithm's own"),
		bind("timeout", omitted(atLeast(1)), func(l *Lock) *time.Duration { return &l.Timeout },
			"The time-out of one call to a server. For Redis servers with replicas it is `3s` if neither this field nor the algorithm "+
				"sets it; with Sentinels, or in a cluster, a failed request is sent up to three more times, as go-redis does, each "+
				"with its own time-out.").otherwise("the algorithm's own"),
		bind("acks", omitted(integer(1, maxServers)), func(l *Lock) *int { return &l.Acks },
			"How many replicas must acknowledge a grant, for locks that wait for replicas (WAIT).").
			otherwise("the algorithm's own"),
		bind("library", omitted(wordOf("java", "curator", "go-zookeeper")), func(l *Lock) *string { return &l.Library },
			"The client library whose session handling is simulated.").otherwise("the algorithm's own"),
		bind("lock-delay", optional(atLeast(0)), func(l *Lock) **time.Duration { return &l.LockDelay },
			"How long a lock that was lost, rather than released, stays unavailable to others.").
			otherwise("the servers' own"),
	},
})

var namedLockFields = mapping[NamedLock]{
	name: "named-lock",
	doc:  "One of several locks.",
	fields: []field[NamedLock]{
		bind("ttl", omitted(atLeast(time.Millisecond)), func(l *NamedLock) *time.Duration { return &l.TTL },
			"The time to live of its lease, or the time-out of its session.").otherwise("that of `lock`"),
		bind("guards", omitted(name("a resource's name")), func(l *NamedLock) *string { return &l.Guards },
			"The resource that the lock protects. Locks that guard a resource of the same name protect one and the same: a critical section "+
				"that has taken several of them accesses it once, and shows the fencing token of each.").otherwise("one of its own"),
		bind("unfenced", truth(), func(l *NamedLock) *bool { return &l.Unfenced },
			"Whether accesses do not show the lock's fencing token (or value), as if it handed out none: of a resource with two guards "+
				"only the other's tokens are compared then."),
	},
}

var clientFields = ofBackends(mapping[Client]{
	name: "client",
	doc:  "One client process, or several identical ones.",
	fields: []field[Client]{
		bind("count", integer(1, maxProcesses), func(c *Client) *int { return &c.Count },
			"The number of processes. More than one are called NAME-1, NAME-2, …").or("1"),
		bind("start", atLeast(0), func(c *Client) *time.Duration { return &c.Start },
			"When the client begins, from the start of the run. A client that restarts after a crash begins at once.").or("0s"),
		bind("connected", truth(), func(c *Client) *bool { return &c.Connected },
			"Whether the process begins with open connections to the lock's servers, idle since before the run, as an application has that "+
				"has been up for a while. Otherwise, and after a restart, it opens them when it first asks for the lock. It is for client "+
				"programs that declare `connects`, on servers without Sentinels that are no cluster."),
		bind("style", optional(style()), func(c *Client) **history.Style { return &c.Style },
			"The client style, which says when the client stops believing that it holds the lock.").
			otherwise("the styles of the scenario"),
		bind("lock", omitted(ownLockFields.kind()), func(c *Client) *OwnLock { return &c.Lock },
			"What this client's lock has otherwise than the scenario's, such as another version of a library during an upgrade.").
			otherwise("nothing"),
		bind("takes", oneOrMore(line("the name of one of the locks"), maxNamed), func(c *Client) *[]string { return &c.Takes },
			"The locks that a critical section takes, one after the other in this order; it releases them in the opposite order. A "+
				"client that does not get one of them, because its `wait` is limited, releases those that it has, and takes the first "+
				"one again if it tries again (`again`). This is how libraries such as Redisson take several locks as one (MultiLock). On databases "+
				"each lock has a connection of its own, so that the server's detection of deadlocks does not see a circle of clients.").
			otherwise("all locks of `locks`, in their order"),
		bind("between", omitted(atLeast(1)), func(c *Client) *time.Duration { return &c.Between },
			"How long the client works after it has got one lock before it asks for the next one.").otherwise("it asks at once"),
		bind("tasks", integer(1, maxTasks), func(c *Client) *int { return &c.Tasks },
			"How many tasks the process runs concurrently, each with all of the critical sections.").or("1"),
		bind("sections", integer(1, maxSections), func(c *Client) *int { return &c.Sections },
			"How many critical sections each task enters: it acquires the lock, works, and releases the lock.").or("1"),
		bind("enters", omitted(integer(1, maxTasks)), func(c *Client) *int { return &c.Enters },
			"How often a critical section acquires the lock before it works; it releases it as often afterwards. A lock that is "+
				"not reentrant blocks its own holder.").otherwise("once"),
		bind("wait", special(atLeast(1), wordFor{"forever", forever}, wordFor{"try", 0}),
			func(c *Client) *time.Duration { return &c.Wait },
			"How long one call of Acquire may wait for the lock; `try` does not wait.").or("forever"),
		bind("again", omitted(atLeast(1)), func(c *Client) *time.Duration { return &c.Again },
			"How long the client waits before it calls Acquire again after a call that failed.").
			otherwise("it skips the critical section"),
		bind("unlock-again", omitted(atLeast(1)), func(c *Client) *time.Duration { return &c.Unlock },
			"How long the client waits before it calls Unlock a second time after a call that returned an error. If the lock was "+
				"acquired several times (`enters`), only the last Unlock is repeated.").otherwise("it does not repeat Unlock"),
		bind("renews-late", omitted(atLeast(1)), func(c *Client) *time.Duration { return &c.Late },
			"A mistake of an application that renews its lease itself (with a library's Extend, every `renew` of the lock): every call "+
				"comes this much too late, as in a loop whose work takes longer than planned. The client looks at no clock meanwhile: "+
				"that it has lost the lock it learns from a call that says so.").otherwise("it renews in time"),
		bind("forgets-token", truth(), func(c *Client) *bool { return &c.Forgets },
			"A mistake of an application: whether the client accesses the resource without the fencing token (or value) that the "+
				"lock has given it, like an UPDATE without the condition. The resource compares nothing then, and remembers nothing."),
		bind("passes-token", omitted(atLeast(1)), func(c *Client) *time.Duration { return &c.Passes },
			"A mistake of an application: the client does not write, but hands its fencing token to a background job of its process, "+
				"which writes this long after Unlock has returned, with that token. The client waits for the job before its next "+
				"critical section. A client that learns that it has lost the lock starts no job.").
			otherwise("the client writes itself"),
		bind("retry", retry(), func(c *Client) *Retry { return &c.Retry },
			"How a waiting Acquire polls.").otherwise("the algorithm's own"),
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
			"The length of the critical section, in which the client waits for something: a pause may pass meanwhile, unless the work "+
				"is `cpu-bound`. A client with `forever` hangs: it reads, and writes only if `write` is set.").or("0s"),
		bind("cpu-bound", truth(), func(c *Client) *bool { return &c.Busy },
			"Whether the work keeps the processor busy, so that every pause of the process makes it last longer by the same time."),
		bind("read", atLeast(0), func(c *Client) *time.Duration { return &c.Read },
			"When the registers are read, from the start of the critical section.").or("0s"),
		bind("write", optional(atLeast(0)), func(c *Client) **time.Duration { return &c.Write },
			"When the registers are written, from the start of the critical section.").
			otherwise("at the end of the critical section, if it ends"),
		bind("think", atLeast(0), func(c *Client) *time.Duration { return &c.Think },
			"The pause between two critical sections.").or("0s"),
		bind("stays", truth(), func(c *Client) *bool { return &c.Stays },
			"Whether the process stays up after its last critical section, with its connections, sessions and watches. The run does "+
				"not wait for it. Otherwise the process ends, and its connections close."),
		bind("servers", oneOrMore(line("a server"), maxServers), func(c *Client) *[]string { return &c.Servers },
			"The servers of the ensemble to which it connects, in this order.").
			otherwise("all, in random order"),
	},
})

var ownLockFields = mapping[OwnLock]{
	name: "own-lock",
	doc:  "A client's own lock. It has the key of the scenario's lock, lives on the same servers, and holds by the same rule.",
	fields: []field[OwnLock]{
		bind("algorithm", omitted(lockName()), func(l *OwnLock) *string { return &l.Algorithm },
			"The lock. The scenario's `renew` is not for a client with an algorithm of its own.").otherwise("the scenario's"),
		bind("ttl", omitted(atLeast(time.Millisecond)), func(l *OwnLock) *time.Duration { return &l.TTL },
			"The time to live of its lease, or the time-out of its session.").otherwise("the scenario's"),
		bind("renew", omitted(atLeast(time.Millisecond)), func(l *OwnLock) *time.Duration { return &l.Renew },
			"The interval after which it renews its lease, for locks that do.").otherwise("the scenario's"),
		bind("timeout", omitted(atLeast(1)), func(l *OwnLock) *time.Duration { return &l.Timeout },
			"The time-out of one of its calls to a server.").otherwise("the scenario's"),
	},
}

var retryFields = mapping[Retry]{
	name: "retry",
	doc:  "How a waiting Acquire polls.",
	fields: []field[Retry]{
		bind("delay", omitted(atLeast(1)), func(r *Retry) *time.Duration { return &r.Delay },
			"The pause between two attempts.").otherwise("the algorithm's own"),
		bind("jitter", atLeast(0), func(r *Retry) *time.Duration { return &r.Jitter },
			"Every pause is longer by a random duration up to this.").or("0s"),
		bind("tries", omitted(integer(1, maxTries)), func(r *Retry) *int { return &r.Tries },
			"The number of attempts after which Acquire gives up.").otherwise("the algorithm's own"),
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
	doc:  "The resource that the lock protects: registers that clients read and write, and how they check fencing tokens.",
	fields: []field[Resource]{
		bind("fencing", oneOrMore(fencing(), len(history.FencingNames())),
			func(r *Resource) *[]history.Fencing { return &r.Fencing },
			"The fencing modes with which the scenario is run, all on the same schedule.").otherwise("`none`"),
		bind("registers", integer(1, maxRegisters), func(r *Resource) *int { return &r.Registers },
			"How many registers a critical section reads and writes.").or("1"),
		bind("in", flag("storage", "servers"), func(r *Resource) *bool { return &r.Guarded },
			"Where the registers are: on a node of their own, or on the lock's servers, which execute an access and the check that "+
				"the lock is held in one step. Only some locks support the latter.").or("storage"),
		bind("tokens", flag("by-lock", "mixed"), func(r *Resource) *bool { return &r.Mixed },
			"With which tokens a resource that several locks guard compares one: with those of the same lock (`by-lock`), or with all "+
				"that it has seen (`mixed`), as a resource does that knows of one lock only. Each lock counts its tokens by itself.").or("by-lock"),
		bind("latency", latency(), func(r *Resource) *sim.Latency { return &r.Latency },
			"The latency of a message between a client and the resource.").otherwise("the network's"),
	},
}

var networkFields = mapping[Network]{
	name: "network",
	doc:  "The latency of messages.",
	fields: []field[Network]{
		bind("latency", latency(), func(n *Network) *sim.Latency { return &n.Latency },
			"The one-way latency of a message; `lan` has a median of 0.3 ms, and one message in a hundred takes more than 5 ms.").
			otherwise("`lan`"),
		bind("links", list(networkLinkFields.kind(), maxFaults), func(n *Network) *[]Link { return &n.Links },
			"Connections with a latency of their own. If several entries match, the last one applies."),
	},
}

var networkLinkFields = mapping[Link]{
	name: "network-link",
	doc:  "The connections between two sets of nodes, in both directions unless `oneway` is set.",
	fields: []field[Link]{
		bind("from", nodes(), func(l *Link) *[]string { return &l.From }, "One end.").must(),
		bind("to", nodes(), func(l *Link) *[]string { return &l.To }, "The other.").must(),
		bind("oneway", truth(), func(l *Link) *bool { return &l.OneWay },
			"Only messages from `from` to `to`.").otherwise("both ways"),
		bind("latency", latency(), func(l *Link) *sim.Latency { return &l.Latency }, "The one-way latency of a message.").must(),
	},
}

var clockFields = mapping[Clock]{
	name: "clock",
	doc:  "How the clocks of a node deviate from true time, from the start of the run.",
	fields: []field[Clock]{
		bind("offset", atLeast(-maxDuration), func(c *Clock) *time.Duration { return &c.Offset },
			"How far the wall clock is ahead; it may be negative.").or("0s"),
		bind("rate", rate(), func(c *Clock) *int64 { return &c.Rate },
			"How much faster than true time both clocks run, such as 5000ppm or 0.5%; it may be negative.").or("0ppm"),
	},
}

// rate is how much faster than true time a clock runs, in parts per million; -1,000,000 would stand still.
func rate() kind[int64] {
	return ratio("a rate such as 5000ppm or 0.5%, above -100% and up to 100%", -million+1, million, ppm)
}

var loadFields = mapping[LoadBounds]{
	name: "load",
	doc: "How many requests the lock of one client process may send to its servers within any second. Requests that its client " +
		"library sends by itself, such as session pings, do not count.",
	fields: []field[LoadBounds]{
		bind("waiter", omitted(integer(1, maxEvents)), func(l *LoadBounds) *int { return &l.Waiter },
			"The limit while Acquire runs.").otherwise("no bound"),
		bind("holder", omitted(integer(1, maxEvents)), func(l *LoadBounds) *int { return &l.Holder },
			"The limit at other times, for renewals and releases.").otherwise("no bound"),
	},
}

var boundsFields = mapping[Bounds]{
	name: "bounds",
	doc: "Limits that end a run which does not end by itself; its verdicts are then unknown. Fixed limits on memory do so too: " +
		"5,000,000 events of the trace, 1,000,000 records of the history, 1,000,000 messages in flight or connections, " +
		"2,000,000 pending events or stored entries.",
	fields: []field[Bounds]{
		bind("steps", integer(1, maxEvents), func(b *Bounds) *int { return &b.Steps },
			"The maximum number of events.").or("1000000"),
		bind("messages", integer(1, maxEvents), func(b *Bounds) *int { return &b.Messages },
			"The maximum number of messages sent.").or("1000000"),
	},
}
