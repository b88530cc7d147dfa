package redis

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/sim"
)

// OutputLimit is how much output a client may leave unread before the server disconnects it
// (client-output-buffer-limit): more than Hard bytes at any time, or more than Soft bytes for longer than SoftFor. A
// limit of 0 is none.
type OutputLimit struct {
	Name    string // of the parameter and class
	Hard    int
	Soft    int
	SoftFor time.Duration
}

// outputClasses are the classes of clients in the order in which CONFIG GET names them.
var outputClasses = [...]string{"normal", "slave", "pubsub"}

// defaultOutputLimits are those of redis.conf.
func defaultOutputLimits() [len(outputClasses)]OutputLimit {
	const mb = 1 << 20
	return [...]OutputLimit{
		{},
		{Hard: 256 * mb, Soft: 64 * mb, SoftFor: time.Minute},
		{Hard: 32 * mb, Soft: 8 * mb, SoftFor: time.Minute},
	}
}

// OutputLimit returns the limit of a client's connection.
func (s *Server) OutputLimit(c *sim.Conn) OutputLimit {
	class := 0
	if p, ok := c.Session.(*Peer); ok && p.subscriptions() > 0 {
		class = 2
	}
	l := s.Store.settings.output[class]
	l.Name = "client-output-buffer-limit " + outputClasses[class]
	return l
}

// describeOutputLimits writes the limits as CONFIG GET does.
func describeOutputLimits(limits [len(outputClasses)]OutputLimit) string {
	var all []string
	for i, l := range limits {
		all = append(all, fmt.Sprintf("%s %d %d %d", outputClasses[i], l.Hard, l.Soft, l.SoftFor/time.Second))
	}
	return strings.Join(all, " ")
}

// parseOutputLimits reads classes, each with its limits, and leaves those of the others as they are.
func parseOutputLimits(limits [len(outputClasses)]OutputLimit, text string) (parsed [len(outputClasses)]OutputLimit, ok bool) {
	words := strings.Fields(text)
	if len(words) == 0 || len(words)%4 != 0 {
		return limits, false
	}
	for ; len(words) > 0; words = words[4:] {
		class := -1
		for i, name := range outputClasses {
			if strings.EqualFold(words[0], name) || name == "slave" && strings.EqualFold(words[0], "replica") {
				class = i
			}
		}
		hard, ok1 := parseMemory(words[1])
		soft, ok2 := parseMemory(words[2])
		seconds, err := strconv.ParseInt(words[3], 10, 32)
		if class < 0 || !ok1 || !ok2 || err != nil || seconds < 0 {
			return limits, false
		}
		limits[class] = OutputLimit{Hard: hard, Soft: soft, SoftFor: time.Duration(seconds) * time.Second}
	}
	return limits, true
}

// parseMemory reads an amount of memory, such as 32mb (util.c, memtoull).
func parseMemory(word string) (bytes int, ok bool) {
	word = strings.ToLower(word)
	digits := strings.TrimRight(word, "bgkm")
	unit, ok := map[string]int64{
		"": 1, "b": 1, "k": 1e3, "kb": 1 << 10, "m": 1e6, "mb": 1 << 20, "g": 1e9, "gb": 1 << 30,
	}[word[len(digits):]]
	n, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || n < 0 || n > (1<<62)/unit {
		return 0, false
	}
	return int(n * unit), true
}
