package redis

import (
	"slices"
	"strconv"
	"strings"
)

// configRows are the subcommands of CONFIG.
func configRows() []command {
	return []command{
		{name: "GET", arity: -3, run: runConfigGet},
		{name: "REWRITE", arity: 2, run: runConfigRewrite},
	}
}

// parameters are what CONFIG GET tells, each name followed by its value: of what a server simulates.
func (s *Store) parameters() []string {
	appendonly, appendfsync, save := "no", "everysec", ""
	if s.server != nil {
		switch s.server.config.Persistence {
		case Everysec:
			appendonly = "yes"
		case Always:
			appendonly, appendfsync = "yes", "always"
		case Lazy:
			appendonly, appendfsync = "yes", "no"
		case RDB:
			save = "3600 1 300 100 60 10000"
		case NoPersistence:
		}
	}
	return []string{
		"appendfsync", appendfsync, "appendonly", appendonly, "databases", strconv.Itoa(s.limit()), "maxmemory", "0", "maxmemory-policy", "noeviction",
		"notify-keyspace-events", "", "save", save, "timeout", "0",
	}
}

// runConfigGet answers with the parameters that match one of the patterns, in the order of their names; Redis in that of a hash
// table.
func runConfigGet(s *Store, _ *Peer, _ *command, args []string) {
	all := s.parameters()
	var some []string
	for i := 0; i < len(all); i += 2 {
		if slices.ContainsFunc(args[2:], func(pattern string) bool { return matches(strings.ToLower(pattern), all[i]) }) {
			some = append(some, all[i:i+2]...)
		}
	}
	s.head(ReplyMap, len(some)/2)
	s.bulks(some...)
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
