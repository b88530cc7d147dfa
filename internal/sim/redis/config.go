package redis

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// configRows are the subcommands of CONFIG.
func configRows() []command {
	return []command{
		{name: "GET", arity: -3, run: runConfigGet},
		{name: "SET", arity: -4, run: runConfigSet},
		{name: "RESETSTAT", arity: 2, run: func(s *Store, _ *Peer, _ *command, _ []string) { s.ok() }},
		{name: "REWRITE", arity: 2, run: runConfigRewrite},
	}
}

// settings are the parameters that CONFIG SET may change and that nothing else knows. They end with the process.
type settings struct {
	output  [len(outputClasses)]OutputLimit
	numbers [len(numbers)]int64
	policy  string // maxmemory-policy
}

func newSettings() settings {
	s := settings{output: defaultOutputLimits(), policy: policies[0]}
	for i := range numbers {
		s.numbers[i] = numbers[i].value
	}
	return s
}

// numbers are the parameters whose value is a number that decides over nothing which a client could see here.
var numbers = [...]struct {
	name         string
	value, least int64
}{
	{"busy-reply-threshold", 5000, 0}, {"hz", 10, 0}, {"latency-monitor-threshold", 0, 0}, {"lua-time-limit", 5000, 0},
	{"maxclients", 10000, 1}, {"slowlog-log-slower-than", 10000, -1}, {"slowlog-max-len", 128, 0}, {"tcp-keepalive", 300, 0},
}

// policies are the values of maxmemory-policy. They decide over nothing, since no memory is counted.
var policies = []string{
	"noeviction", "volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl", "allkeys-lru", "allkeys-lfu", "allkeys-random",
}

// parameter is one that CONFIG knows.
type parameter struct {
	name, value string
	set         func(value string) bool // whether it may have the value, which it then has; nil: only the one that it has
	fixed       string                  // why it may have no other
}

// parameters are what CONFIG knows, by name: what a server simulates, and what clients' tests set.
func (s *Store) parameters() []parameter {
	const started, uncounted = "it is decided when the server is started", "no memory is counted"
	appendonly, appendfsync, save := "no", "everysec", ""
	if s.server != nil {
		appendonly, appendfsync, save = s.server.config.Persistence.parameters()
	}
	list := []parameter{
		{"appendfsync", appendfsync, nil, started},
		{"appendonly", appendonly, nil, started},
		{"client-output-buffer-limit", describeOutputLimits(s.settings.output), s.setOutputLimits, ""},
		{"databases", strconv.Itoa(s.limit()), nil, started},
		{"maxmemory", "0", nil, uncounted},
		{"maxmemory-policy", s.settings.policy, s.setPolicy, ""},
		{"notify-keyspace-events", "", nil, "keyspace notifications are not simulated"},
		{"save", save, nil, started},
		{"timeout", "0", nil, "idle clients are not closed"},
	}
	for i := range numbers {
		list = append(list, parameter{numbers[i].name, strconv.FormatInt(s.settings.numbers[i], 10), s.setNumber(i), ""})
	}
	if s.server != nil {
		list = append(list, s.server.replicaParameters()...)
	}
	slices.SortFunc(list, func(a, b parameter) int { return strings.Compare(a.name, b.name) })
	return list
}

// parameters are the values of appendonly, appendfsync and save.
func (p Persistence) parameters() (appendonly, appendfsync, save string) {
	switch p {
	case Everysec:
		return "yes", "everysec", ""
	case Always:
		return "yes", "always", ""
	case Lazy:
		return "yes", "no", ""
	case RDB:
		return "no", "everysec", "3600 1 300 100 60 10000"
	default:
		return "no", "everysec", ""
	}
}

// replicaParameters are those that decide when a master refuses to write.
func (s *Server) replicaParameters() []parameter {
	lag := int64(s.config.MinReplicasMaxLag / time.Second)
	if lag == 0 {
		lag = defaultMaxLag
	}
	set := func(apply func(n int64)) func(string) bool {
		return func(value string) bool {
			n, err := strconv.ParseInt(value, 10, 31)
			if err != nil || n < 0 {
				return false
			}
			apply(n)
			s.countGood()
			s.restrict()
			return true
		}
	}
	return []parameter{
		{"min-replicas-max-lag", strconv.FormatInt(lag, 10), set(func(n int64) {
			s.config.MinReplicasMaxLag = time.Duration(n) * time.Second
		}), ""},
		{"min-replicas-to-write", strconv.Itoa(s.config.MinReplicas), set(func(n int64) { s.config.MinReplicas = int(n) }), ""},
	}
}

func (s *Store) setOutputLimits(value string) (ok bool) {
	s.settings.output, ok = parseOutputLimits(s.settings.output, value)
	return ok
}

func (s *Store) setPolicy(value string) bool {
	value = strings.ToLower(value)
	if !slices.Contains(policies, value) {
		return false
	}
	s.settings.policy = value
	return true
}

func (s *Store) setNumber(i int) func(value string) bool {
	return func(value string) bool {
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < numbers[i].least {
			return false
		}
		s.settings.numbers[i] = n
		return true
	}
}

// runConfigGet answers with the parameters that match one of the patterns, in the order of their names; Redis in that of a hash
// table.
func runConfigGet(s *Store, _ *Peer, _ *command, args []string) {
	var some []string
	for _, p := range s.parameters() {
		if slices.ContainsFunc(args[2:], func(pattern string) bool { return matches(strings.ToLower(pattern), p.name) }) {
			some = append(some, p.name, p.value)
		}
	}
	s.head(ReplyMap, len(some)/2)
	s.bulks(some...)
}

// runConfigSet sets all of the parameters that it names, or none (config.c, configSetCommand).
func runConfigSet(s *Store, _ *Peer, _ *command, args []string) {
	words := args[2:]
	if len(words)%2 != 0 {
		s.fail("ERR wrong number of arguments for 'config|set' command")
		return
	}
	known := s.parameters()
	var chosen []parameter
	for i := 0; i < len(words); i += 2 {
		name := strings.ToLower(words[i])
		at := slices.IndexFunc(known, func(p parameter) bool { return p.name == name })
		switch {
		case at < 0:
			s.fail("ERR Unknown option or number of arguments for CONFIG SET - '" + words[i] + "'")
			return
		case slices.ContainsFunc(chosen, func(p parameter) bool { return p.name == name }):
			s.fail("ERR CONFIG SET failed (possibly related to argument '" + words[i] + "') - duplicate parameter")
			return
		}
		chosen = append(chosen, known[at])
	}
	for i, p := range chosen {
		if problem := p.assign(words[2*i+1]); problem != "" {
			for _, before := range slices.Backward(chosen[:i]) {
				_ = before.assign(before.value)
			}
			s.fail("ERR CONFIG SET failed (possibly related to argument '" + words[2*i] + "') - " + problem)
			return
		}
	}
	s.ok()
}

// assign gives a parameter a value, or says why it may not have it.
func (p parameter) assign(value string) (problem string) {
	switch {
	case p.set == nil && !strings.EqualFold(value, p.value):
		return p.fixed
	case p.set != nil && !p.set(value):
		return "argument couldn't be parsed or is out of range"
	}
	return ""
}

// runConfigRewrite makes the role outlive the process.
func runConfigRewrite(s *Store, _ *Peer, _ *command, _ []string) {
	if s.server == nil {
		s.fail(errNoServer)
		return
	}
	s.server.after = append(s.server.after, s.server.rewriteConfig)
	s.ok()
}
