package redis_test

import (
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// pair is a master, 1, with a replica, 2: real servers, or simulated ones.
type pair interface {
	// do sends a line on the connection to a server, and returns the reply. "@1" in it is the address of a server.
	do(i int, line string) string
	// push sends a line and does not wait; next waits for what comes, "closed" if nothing ever will.
	push(i int, line string)
	next(i int) string
	// redial opens a new connection to a server.
	redial(i int)
	// settle waits until the one that is a replica has all that its master has.
	settle()
	// stop stops a process for good, restart kills it and starts it again.
	stop(i int)
	restart(i int)
	// took says how long something takes.
	took(do func()) time.Duration
}

// replicationStories are played by real and by simulated servers, which answer the same. A line is a server's number and
// a command; other words are instructions, see direct.
var replicationStories = map[string]string{
	"a replica reads what the master wrote and refuses to write": `
		1 SET lock a NX PX 100000
		1 WAIT 1 5000
		1 SET lock b NX PX 100000
		1 WAIT 1 5000
		2 GET lock
		2 SET lock b
		2 DEL lock
		2 EVAL return_redis.call('set','k','v') 0
		2 EVAL return_redis.pcall('del','lock').err 0
		2 EVAL return_redis.call('get','lock') 0
		2 MULTI
		2 GET lock
		2 SET lock b
		2 EXEC
		2 WAIT 1 0
		1 WAIT 1 -1
		1 WAIT x 1
		1 MULTI
		1 SET k v
		1 EXEC
		1 WAIT 1 5000`,
	"a script's effects arrive together": `
		1 EVAL redis.call('incr','n')redis.call('pexpire','n',100000)return_redis.call('hincrby','h','f',2) 0
		1 WAIT 1 5000
		2 GET n
		2 HGETALL h
		1 EVAL return_redis.call('del','n','h') 0
		1 WAIT 1 5000
		2 EXISTS n h`,
	"a transaction that was queued on a master is discarded by the replica that it becomes": `
		1 MULTI
		1 SET k v
		push 1 GET k
		next 1
		redial 1
		1 MULTI
		1 GET k
		1 EXEC`,
	"an old master that has written nothing goes on and keeps what it has": `
		1 SET lock a
		1 WAIT 1 5000
		2 REPLICAOF NO ONE
		2 REPLICAOF NO ONE
		2 SET mine b
		1 REPLICAOF @2
		1 REPLICAOF @2
		1 SET x 1
		settle
		1 GET lock
		1 GET mine
		partial 1`,
	"what an old master has written since vanishes": `
		1 SET lock a
		1 WAIT 1 5000
		2 REPLICAOF NO ONE
		1 SET minority a
		2 SET majority b
		1 REPLICAOF @2
		settle
		1 GET minority
		1 GET majority
		1 GET lock
		1 SET lock b
		partial 1`,
	"who waits is turned away when the master is demoted": `
		1 SET lock a
		push 1 WAIT 5 0
		redial 2
		2 REPLICAOF NO ONE
		demote 1 @2
		next 1
		next 1`,
	"messages reach the subscribers of a replica": `
		2 SUBSCRIBE c
		1 PUBLISH c hello
		next 2
		1 MULTI
		1 SET k v
		1 PUBLISH c again
		1 EXEC
		next 2
		1 EVAL return_redis.call('publish','c','script') 0
		next 2
		2 GET k`,
	"a replica hides what has expired and does not delete it": `
		1 SET lock a NX PX 300
		1 SET other a
		1 WAIT 1 5000
		stop 1
		gone 2 lock
		2 PTTL lock
		2 EXISTS lock
		2 DBSIZE
		2 REPLICAOF NO ONE
		2 SET lock b NX
		2 DBSIZE`,
	"scripts are forgotten with a restart, and unknown to a replica": `
		1 SCRIPT LOAD return_7
		1 WAIT 0 0
		2 EVALSHA 5abe8d2c8ad8ab1e0a6ea3ed0d3a9b3c1c1b8e0f 0
		restart 1
		1 EVALSHA 5abe8d2c8ad8ab1e0a6ea3ed0d3a9b3c1c1b8e0f 0`,
	"the sentinel's transaction closes the connections of others": `
		push 2 PING
		next 2
		kill 2
		next 2
		redial 2
		2 SET k v`,
}

// play tells a story, and returns what was answered.
func play(t require.TestingT, p pair, story string) (answers []string) {
	add := func(line, answer string) {
		answer, _, _ = strings.Cut(answer, " script: ") // and then which line of it
		answers = append(answers, line+" -> "+answer)
	}
	for _, line := range strings.Split(strings.TrimSpace(story), "\n") {
		line = strings.TrimSpace(line)
		words := strings.Fields(line)
		switch i, err := strconv.Atoi(words[0]); {
		case err == nil:
			add(line, p.do(i, strings.Join(words[1:], " ")))
		case words[0] == "settle":
			p.settle()
		default:
			i, err = strconv.Atoi(words[1])
			require.NoError(t, err, line)
			if answer := direct(p, i, words); answer != "" {
				add(line, answer)
			}
		}
	}
	return answers
}

// direct follows an instruction that is no command.
func direct(p pair, i int, words []string) (answer string) {
	switch words[0] {
	case "push":
		p.push(i, strings.Join(words[2:], " "))
	case "next":
		return p.next(i)
	case "redial":
		p.redial(i)
	case "stop":
		p.stop(i)
	case "restart":
		p.restart(i)
	case "gone":
		for p.do(i, "GET "+words[2]) != "(nil)" {
		}
	case "partial":
		return strconv.FormatBool(!strings.Contains(p.do(i, "INFO replication"), "master_replid2:00000000"))
	case "demote":
		return p.do(10+i, "REPLICAOF "+words[2])
	case "kill":
		for _, line := range []string{"MULTI", "SLAVEOF NO ONE", "CLIENT KILL TYPE normal", "EXEC"} {
			p.do(10+i, line)
		}
	default:
		panic("no instruction: " + words[0])
	}
	return ""
}

// realPair is two redis-servers of this machine. A server's number plus ten is another connection to it.
type realPair struct {
	t       *testing.T
	servers [2]*redis.RealServer
	wires   map[int]*redis.Wire
}

func newRealPair(t *testing.T) *realPair {
	p := &realPair{t: t, wires: map[int]*redis.Wire{}}
	p.servers[0] = redis.StartRealServer(t, "--repl-diskless-sync", "no")
	host, port, err := net.SplitHostPort(p.servers[0].Address)
	require.NoError(t, err)
	p.servers[1] = redis.StartRealServer(t, "--repl-diskless-sync", "no", "--replicaof", host+" "+port)
	p.settle()
	return p
}

func (p *realPair) redial(i int) { p.wires[i] = redis.Dial(p.t, p.servers[(i-1)%10].Address) }

func (p *realPair) words(line string) []string {
	for i, server := range p.servers {
		line = strings.ReplaceAll(line, "@"+strconv.Itoa(i+1), strings.ReplaceAll(server.Address, ":", " "))
	}
	return unfold(line)
}

// unfold splits a line at blanks, and makes blanks of the underscores within a word that is a script.
func unfold(line string) []string {
	words := strings.Fields(line)
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], "return_", "return ")
	}
	return words
}

func (p *realPair) push(i int, line string) {
	if p.wires[i] == nil {
		p.redial(i)
	}
	p.wires[i].Send(p.t, p.words(line)...)
}

func (p *realPair) next(i int) string {
	reply, err := p.wires[i].Read()
	if err != nil {
		return "closed"
	}
	return reply.String()
}

func (p *realPair) do(i int, line string) string {
	p.push(i, line)
	return p.next(i)
}

func (p *realPair) info(i int) redis.Info {
	info, err := redis.ParseInfo(redis.Dial(p.t, p.servers[i].Address).Do(p.t, "INFO").Text)
	require.NoError(p.t, err)
	return info
}

func (p *realPair) settle() {
	for {
		a, b := p.info(0), p.info(1)
		if a.History == b.History && a.Offset == b.Offset && (a.LinkUp || b.LinkUp) {
			return
		}
	}
}

func (p *realPair) stop(i int) { p.servers[i-1].Stop() }

func (p *realPair) restart(i int) {
	p.servers[i-1].Kill()
	p.servers[i-1].Start()
	p.redial(i)
}

func (p *realPair) took(do func()) time.Duration {
	began := time.Now()
	do()
	return time.Since(began)
}

// simulatedPair is a deployment, and a client of it.
type simulatedPair struct{ *caller }

func (p simulatedPair) redial(i int) { delete(p.lines, i) }

func (p simulatedPair) words(line string) []string {
	return unfold(strings.ReplaceAll(line, "@", "redis-"))
}

func (p simulatedPair) push(i int, line string)   { p.send(i, p.words(line)...) }
func (p simulatedPair) next(i int) string         { return p.caller.next(i, 10*s) }
func (p simulatedPair) do(i int, l string) string { return p.caller.words(i, p.words(l)...) }
func (p simulatedPair) settle()                   { p.Sleep(3 * s) }

func (p simulatedPair) now() sim.Trigger { return at(time.Duration(p.d.Now()) + 1) }

func (p simulatedPair) stop(i int) {
	p.d.fault(p.now(), sim.Action{Kind: sim.Pause, Node: p.d.servers[i-1].Node().Name}, 0)
	p.Sleep(ms)
}

func (p simulatedPair) restart(i int) {
	p.d.fault(p.now(), crash(p.d.servers[i-1].Node().Name, false, 10*ms), 0)
	p.Sleep(20 * ms)
	p.redial(i)
}

func (p simulatedPair) took(do func()) time.Duration { return p.caller.took(do) }

// onSimulated runs what a client does with a fresh pair.
func onSimulated(t *testing.T, do func(p pair)) {
	d := deploy(t, 1, redis.Config{})
	d.client("a", func(c *caller) { do(simulatedPair{c}) })
	d.play()
}

// TestRealReplicationAnswersTheSame tells the stories to real and to simulated servers.
func TestRealReplicationAnswersTheSame(t *testing.T) {
	for name, story := range replicationStories {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // real servers take their time
			want := play(t, newRealPair(t), story)
			onSimulated(t, func(p pair) {
				require.Equal(t, strings.Join(want, "\n"), strings.Join(play(t, p, story), "\n"))
			})
		})
	}
}

// TestAnEmptyMasterWipesItsReplicaAsFastAsARealOne measures the time from the restart to the loss.
func TestAnEmptyMasterWipesItsReplicaAsFastAsARealOne(t *testing.T) {
	t.Parallel() // the real server takes a second
	wipe := func(p pair) time.Duration {
		p.do(1, "SET lock a")
		p.do(1, "WAIT 1 5000")
		p.restart(1)
		return p.took(func() {
			for p.do(2, "DBSIZE") != "(integer) 0" {
			}
		})
	}
	var slowest time.Duration
	for seed := range uint64(20) {
		d := deployLike(t, seed, 1, func(int) redis.Config { return redis.Config{} })
		d.client("a", func(c *caller) { slowest = max(slowest, wipe(simulatedPair{c})) })
		d.play()
	}
	require.Less(t, slowest, 1100*ms)
	require.Greater(t, slowest, 500*ms, "the replica tries again once a second")
	t.Logf("simulated: at most %v in 20 seeds", slowest)
	t.Logf("a real server: %v (1.1 s when it was first measured)", wipe(newRealPair(t)).Round(ms))
}

// effectLines are compared with what a real master sends its replicas.
var effectLines = []string{
	"SET lock a NX PX 100000", "SET lock b NX PX 100000", "GET lock", "SET lock a", "SET lock a XX KEEPTTL", "SET lock a EX 100",
	"PEXPIRE lock 200000", "EXPIRE lock 300", "PEXPIRE nosuch 100", "PEXPIRE lock 400000 LT", "PERSIST lock", "PERSIST lock",
	"PEXPIRE lock -1", "SETNX lock a", "SETNX lock b", "INCR token", "INCRBY token 5", "INCRBY token 0", "HINCRBY g f 0", "HINCRBY g f 0", "GETSET token 9", "SET token 9 GET",
	"HSET h f 1", "HSET h f 1", "HINCRBY h f 1", "HDEL h g", "HDEL h f", "SETEX k 100 v", "PSETEX k 100000 v", "GETDEL k", "DEL k",
	"UNLINK token", "RPUSH l a b", "LSET l 0 a", "LTRIM l 0 -1", "LTRIM nosuch 0 -1", "LREM l 0 a", "LREM l 0 a", "ZADD z 1 a", "ZADD z 1 a", "ZREM z a", "PUBLISH c m",
	"MULTI", "SET a 1", "PEXPIRE a 100000", "PUBLISH c m", "EXEC", "MULTI", "INCR a", "EXEC", "MULTI", "GET a", "EXEC",
	"EVAL redis.call('set','s',1)redis.call('pexpire','s',100000) 0", "EVAL redis.call('get','s') 0", "EVAL redis.call('incr','s') 0",
	"EVAL redis.call('del','s')redis.call('publish','c','free') 0", "APPEND a x", "SADD m x", "SADD m x", "HSETNX g f 1", "SET end 1",
}

// TestEffectsAreThoseOfARealMaster replays commands of locks on a real master and reads what it sends a replica: the same
// effects in the same units. What Redis sends as it was asked, as INCR, stands there as its result.
func TestEffectsAreThoseOfARealMaster(t *testing.T) {
	server := redis.StartRealServer(t, "--repl-diskless-sync", "no")
	replica, client := redis.Dial(t, server.Address), redis.Dial(t, server.Address)
	replica.Send(t, "PSYNC", "?", "-1")
	replica.SkipSnapshot(t)
	for _, line := range effectLines {
		client.Do(t, unfold(line)...)
	}
	var want []string
	for unit := range replica.Units(t) {
		want = append(want, unit)
		if strings.HasPrefix(unit, "SET end") {
			break
		}
	}
	d := deploy(t, 1, redis.Config{})
	d.client("a", func(c *caller) {
		for _, line := range effectLines {
			c.words(1, unfold(line)...)
		}
	})
	d.play()
	var got []string
	for i, unit := range d.steps("redis-1", trace.Reply, "redis-2") {
		got = append(got, redis.ComparableUnit(strings.Split(unit, "; ")))
		if i < len(want) && !strings.Contains(want[i], " until ") { // INCR leaves the deadline alone, its result repeats it
			got[i], _, _ = strings.Cut(got[i], " until ")
		}
	}
	require.Equal(t, strings.Join(want, "\n"), strings.Join(got, "\n"))
}
