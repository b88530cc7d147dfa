package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/sim"
)

// The schedules that the packages below reports draw in their tests: they may not play a scenario themselves. Each is
// named for its file in reports/testdata/schedules and played by a command line.
var schedules = []struct{ name, command string }{
	{"chubby-jeopardy", "chubby-jeopardy --variant a-minute --style careless"},
	{"etcd-lease-expired", "etcd-lease-expired --fencing none"},
	{"failover-lost-key", "failover-lost-key --variant lagging-link"},
	{"fencing-33-34", "fencing-33-34"},
	{"mysql-connection-lost", "mysql-connection-lost --variant killed"},
	{"poll-or-watch", "poll-or-watch --variant chubby"},
	{"redis-eviction", "redis-eviction"},
	{"redlock-crash-restart", "redlock-crash-restart"},
	{"setnx-crash-deadlock", "setnx-crash-deadlock"},
	{"split-brain-old-master", "split-brain-old-master --variant two-masters"},
	{"zk-gc-pause", "zk-gc-pause --variant new-holder-writes-first --style careless"},
}

const (
	scheduleFolder = "../../reports/testdata/schedules"
	scheduleWidth  = "150"
	// plainMessages is how many messages a file keeps of those that do not matter, in its first run.
	plainMessages = 6
)

func TestSchedulesForPicturesAreThoseOfTheScenarios(t *testing.T) {
	long.NotShort(t)
	t.Parallel()
	var files []string
	for _, x := range schedules {
		t.Run(x.name, func(t *testing.T) {
			args := append([]string{"run"}, strings.Fields(x.command)...)
			_, stdout, stderr := locksim(t.Context(), append(args, "--format", "timeline", "--width", scheduleWidth)...)
			require.Empty(t, stderr)
			var played []reports.Schedule
			require.NoError(t, json.Unmarshal([]byte(stdout), &played))
			require.Len(t, played, 1, "one schedule a file")
			got := scheduleText(t, &played[0])
			require.Less(t, len(got), 100_000)
			path := filepath.Join(scheduleFolder, x.name+".json")
			if os.Getenv("UPDATE") != "" {
				require.NoError(t, os.WriteFile(path, got, 0o644))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, string(want), string(got), "if that is right: UPDATE=1 go test ./cmd/locksim")
		})
		files = append(files, x.name+".json")
	}
	slices.Sort(files)
	requireFiles(t, scheduleFolder, files...)
}

func TestTheNetworkOfASettingIsTheSimulators(t *testing.T) {
	_, stdout, _ := locksim(t.Context(), "run", "redis-eviction", "--format", "timeline")
	var played []reports.Schedule
	require.NoError(t, json.Unmarshal([]byte(stdout), &played))
	lan := sim.LAN()
	require.Contains(t, played[0].Settings, "network: messages take "+lan[0].Delay.String()+" to "+
		lan[len(lan)-1].Delay.String())
}

// leaf finds an object of an indented document that holds no other object or list.
var leaf = regexp.MustCompile(`\{\n[^{}\[\]]*\}|\[\n[^{}\[\]]*\]`)

var indentation = regexp.MustCompile(`\n *`)

// scheduleText prints a schedule with a line for each bar, mark, moment and message. Messages that do not matter are left
// out but for a few, and so are all of a run that went as another one.
func scheduleText(t *testing.T, s *reports.Schedule) []byte {
	t.Helper()
	for i := range s.Runs {
		r, plain := &s.Runs[i], 0
		r.Messages = slices.DeleteFunc(r.Messages, func(m reports.Message) bool {
			if !m.Matters {
				plain++
			}
			return r.LikeRun >= 0 || !m.Matters && (i > 0 || plain > plainMessages)
		})
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	require.NoError(t, enc.Encode(s))
	return leaf.ReplaceAllFunc(b.Bytes(), func(found []byte) []byte {
		return indentation.ReplaceAll(found, []byte(" "))
	})
}
