package serve_test

import (
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/serve"
)

// TestTheComparisonFindsWhatIsPlanted compares a simulated server with one whose clients are told something else.
func TestTheComparisonFindsWhatIsPlanted(t *testing.T) {
	plants := map[string]func(frame []byte) [][]byte{
		"nothing": func(f []byte) [][]byte { return [][]byte{f} },
		"a watch that fires twice": func(f []byte) [][]byte {
			if isEvent(f) {
				return [][]byte{f, f}
			}
			return [][]byte{f}
		},
		"a watch that never fires": func(f []byte) [][]byte {
			if isEvent(f) {
				return nil
			}
			return [][]byte{f}
		},
		"a watch that says created for deleted": func(f []byte) [][]byte {
			if isEvent(f) && f[19] == 2 {
				f[19] = 1
			}
			return [][]byte{f}
		},
		"a version that is one too many": func(f []byte) [][]byte {
			if len(f) == 16+68 { // a node's stat alone
				f[16+4*8+3]++
			}
			return [][]byte{f}
		},
	}
	for name, plant := range plants {
		t.Run(name, func(t *testing.T) {
			var sides []*zkSide
			for i := range 2 {
				w, err := serve.ZooKeeper(1, anywhere(1), time.Second)
				side := &zkSide{addresses: served(t, w, err)}
				if i == 1 {
					side.addresses[0] = spoiled(t, side.addresses[0], plant)
				}
				side.begin(t, "/story", 10*time.Second)
				for _, story := range zkStories {
					if story.name == "standing-watches" {
						story.play(t, side, "/story")
					}
				}
				side.end(t)
				sides = append(sides, side)
			}
			require.Equal(t, name != "nothing", !slices.Equal(sides[0].log, sides[1].log))
		})
	}
}

func isEvent(f []byte) bool { return string(f[:4]) == "\xff\xff\xff\xff" }

// spoiled stands before a server and changes what it sends, but for its first frame.
func spoiled(t *testing.T, server string, change func(frame []byte) [][]byte) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			behind, err := net.Dial("tcp", server)
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(behind, client)
				_ = behind.Close()
			}()
			go func() {
				defer func() { _ = client.Close() }()
				c := &zkClient{conn: behind}
				out := &zkClient{conn: client}
				for first := true; ; first = false {
					f, err := c.read()
					if err != nil {
						return
					}
					list := [][]byte{f}
					if !first {
						list = change(f)
					}
					for _, f := range list {
						_ = out.write(f)
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}
