package redis

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Info is the replication section of a server's INFO.
type Info struct {
	RunID        string // a new one for each life of the process
	Role         Role
	History      string // master_replid
	Offset       int64  // master_repl_offset
	Former       string // master_replid2; "" if there is none
	FormerOffset int64  // second_repl_offset

	Replicas []ReplicaInfo // of a master, or of a replica with replicas of its own

	Master   string        // of a replica: the node's name
	LinkUp   bool          // the stream flows
	LinkDown time.Duration // for how long it has not flowed, in whole seconds
}

// ReplicaInfo is INFO's line about one of the server's replicas.
type ReplicaInfo struct {
	Node   string
	Online bool
	Offset int64         // that it has acknowledged
	Lag    time.Duration // since it last did, in whole seconds
}

// Info returns the server's replication section of INFO.
func (s *Server) Info() Info {
	now := s.unixTime()
	i := Info{
		RunID: s.node.Name + "@" + strconv.Itoa(s.node.Life()), Role: s.Role(),
		History: s.history, Offset: s.offset, Former: s.former, FormerOffset: s.shared + 1,
	}
	if i.Former == "" {
		i.FormerOffset = -1
	}
	for _, l := range s.links {
		r := ReplicaInfo{Node: l.conn.Client().Name, Online: l.online, Offset: l.acked}
		if l.online {
			r.Lag = time.Duration(now-l.heard) * time.Second
		}
		i.Replicas = append(i.Replicas, r)
	}
	if u := s.upstream; u != nil {
		i.Master, i.LinkUp = u.master.Name, u.online
		if !u.online {
			i.LinkDown = time.Duration(now-u.down) * time.Second
		}
	}
	return i
}

// port is what clients read where a server's port stands. The name of the node says everything.
const port = 6379

// noHistory stands where there is no former history.
const noHistory = "0000000000000000000000000000000000000000"

// String formats the lines of INFO's answer, which Sentinels read (server.c, genRedisInfoString).
func (i Info) String() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\r\n", args...) }
	line("# Server")
	line("run_id:%s", i.RunID)
	line("# Replication")
	line("role:%s", i.Role)
	if i.Role == Replica {
		line("master_host:%s", i.Master)
		line("master_port:%d", port)
		line("master_link_status:%s", upOrDown(i.LinkUp))
		line("slave_repl_offset:%d", i.Offset)
		if !i.LinkUp {
			line("master_link_down_since_seconds:%d", i.LinkDown/time.Second)
		}
		line("slave_priority:100")
	}
	line("connected_slaves:%d", len(i.Replicas))
	for n, r := range i.Replicas {
		state := "wait_bgsave"
		if r.Online {
			state = "online"
		}
		line("slave%d:ip=%s,port=%d,state=%s,offset=%d,lag=%d", n, r.Node, port, state, r.Offset, r.Lag/time.Second)
	}
	line("master_replid:%s", i.History)
	former := i.Former
	if former == "" {
		former = noHistory
	}
	line("master_replid2:%s", former)
	line("master_repl_offset:%d", i.Offset)
	line("second_repl_offset:%d", i.FormerOffset)
	return b.String()
}

func upOrDown(up bool) string {
	if up {
		return "up"
	}
	return "down"
}

// ParseInfo is the inverse of Info.String, and parses the answers of Redis.
func ParseInfo(text string) (Info, error) {
	i := Info{FormerOffset: -1}
	for _, line := range strings.Split(text, "\r\n") {
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		if err := i.read(key, value); err != nil {
			return Info{}, fmt.Errorf("INFO line %q: %w", line, err)
		}
	}
	return i, nil
}

func (i *Info) read(key, value string) (err error) {
	switch key {
	case "run_id":
		i.RunID = value
	case "role":
		if value == Replica.String() {
			i.Role = Replica
		}
	case "master_host":
		i.Master = value
	case "master_link_status":
		i.LinkUp = value == "up"
	case "master_link_down_since_seconds":
		i.LinkDown, err = seconds(value)
	case "master_replid":
		i.History = value
	case "master_replid2":
		if value != noHistory {
			i.Former = value
		}
	case "master_repl_offset":
		i.Offset, err = strconv.ParseInt(value, 10, 64)
	case "second_repl_offset":
		i.FormerOffset, err = strconv.ParseInt(value, 10, 64)
	default:
		if strings.HasPrefix(key, "slave") && strings.HasPrefix(value, "ip=") {
			return i.readReplica(value)
		}
	}
	return err
}

func (i *Info) readReplica(value string) (err error) {
	var r ReplicaInfo
	for _, field := range strings.Split(value, ",") {
		switch key, value, _ := strings.Cut(field, "="); key {
		case "ip":
			r.Node = value
		case "state":
			r.Online = value == "online"
		case "offset":
			r.Offset, err = strconv.ParseInt(value, 10, 64)
		case "lag":
			r.Lag, err = seconds(value)
		}
		if err != nil {
			return err
		}
	}
	i.Replicas = append(i.Replicas, r)
	return nil
}

func seconds(text string) (time.Duration, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	return time.Duration(n) * time.Second, err
}

// runInfo answers with what is simulated, all of it or the sections that are asked for by name.
func runInfo(s *Store, _ *Peer, _ *command, args []string) {
	if s.server == nil {
		s.fail(errNoServer)
		return
	}
	text := s.server.Info().String()
	if s.server.config.Mode == "cluster" {
		text += clustered
	}
	if len(args) > 1 {
		text = sections(text, s.version(), args[1:])
	}
	s.verbatim(text)
}

// clustered is what clients look for before they ask a server for a cluster's slots.
const clustered = "# Cluster\r\ncluster_enabled:1\r\n"

// sections are those of a text that have one of the names. The server's own begins with its version.
func sections(text string, v Version, names []string) string {
	asked := func(section string) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			return strings.EqualFold(name, section) || slices.Contains([]string{"all", "default", "everything"}, strings.ToLower(name))
		})
	}
	text, isClustered := strings.CutSuffix(text, clustered)
	server, replication, _ := strings.Cut(text, "# Replication")
	var b strings.Builder
	if asked("server") {
		b.WriteString(strings.Replace(server, "# Server\r\n", "# Server\r\n"+v.info()+"redis_mode:standalone\r\n", 1))
	}
	if asked("replication") {
		b.WriteString("# Replication" + replication)
	}
	if isClustered && asked("cluster") {
		b.WriteString(clustered)
	}
	return b.String()
}

// runRole answers as roleCommand in replication.c does.
func runRole(s *Store, _ *Peer, _ *command, _ []string) {
	if s.server == nil {
		s.fail(errNoServer)
		return
	}
	s.out = s.server.Info().appendRole(s.out)
}

func (i Info) appendRole(out []byte) []byte {
	if i.Role == Replica {
		state := "connect"
		if i.LinkUp {
			state = "connected"
		}
		out = appendBulk(appendArray(out, 5), i.Role.String())
		out = appendBulk(out, i.Master)
		out = appendInteger(out, port)
		out = appendBulk(out, state)
		return appendInteger(out, i.Offset)
	}
	out = appendBulk(appendArray(out, 3), i.Role.String())
	out = appendInteger(out, i.Offset)
	online := 0
	for _, r := range i.Replicas {
		if r.Online {
			online++
		}
	}
	out = appendArray(out, online)
	for _, r := range i.Replicas {
		if r.Online {
			out = appendBulk(appendArray(out, 3), r.Node)
			out = appendBulk(out, strconv.Itoa(port))
			out = appendBulk(out, strconv.FormatInt(r.Offset, 10))
		}
	}
	return out
}
