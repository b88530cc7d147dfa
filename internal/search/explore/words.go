package explore

import (
	"fmt"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/search"
)

// words says what is in the fault model, a line for each kind.
func (m *model) words() (list []string) {
	lasting, step := either(m.lasting), m.step.String()
	for _, k := range m.kinds {
		list = append(list, k.String()+": "+map[search.Kind]string{
			search.ClientCrash: "its process dies, " + comebacks(m.comeback),
			search.ClientPause: "for " + lasting,
			search.ClientClock: "its wall clock jumps by " + step + ", ahead or back, once between two looks at it",
			search.ServerCrash: "its process dies, and is up again after " + either(m.returns),
			search.PowerLoss:   "its machine dies, and is up again after " + either(m.returns),
			search.ServerPause: "for " + lasting,
			search.ServerAhead: "its wall clock jumps ahead by " + step,
			search.ServerBack:  "its wall clock jumps back by " + step,
			search.Drift:       fmt.Sprintf("its clocks run off by %d ppm, either way, from the start on", m.drift),
			search.Cut:         "between a client and a server or storage, for " + lasting,
			search.Stall:       "between a client and a server or storage, for " + lasting,
			search.Delay:       "of a message from or to a client, by " + lasting,
			search.Break:       "of a connection, with the request lost, the reply lost, or nothing",
			search.Error:       m.refusal,
			search.SameRandom:  "two clients draw the same random numbers",
			search.Failover:    "to each of the servers",
			search.Partition:   "of a server from all others, for " + lasting,
			search.Lag:         "of a message between servers, by " + lasting,
			search.SessionCut:  "of a client from all servers, for " + lasting,
			search.EndSession:  "of a client, by the servers",
			search.Evict:       "of the lock's key",
			search.Snapshot:    "of a server's dataset",
		}[k])
	}
	return list
}

func either(times []time.Duration) string {
	texts := make([]string, len(times))
	for i, d := range times {
		texts[i] = d.String()
	}
	return strings.Join(texts, " or ")
}

func comebacks(times []time.Duration) string {
	text := "for good"
	for _, d := range times {
		if d > 0 {
			text += ", or is back after " + d.String()
		}
	}
	return text
}

func kindsInWords(kinds []search.Kind) string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.String()
	}
	return strings.Join(names, ", ")
}
