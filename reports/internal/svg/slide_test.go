package svg

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSlidesAreOfOneForm(t *testing.T) {
	for _, name := range []string{"fencing-33-34", "redlock-crash-restart", "zk-gc-pause"} {
		s := schedule(t, name)
		var b strings.Builder
		require.NoError(t, Slide(&b, s, nil))
		size := regexp.MustCompile(`viewBox="(\S+) 0 (\S+) (\S+)"`).FindStringSubmatch(b.String())
		require.NotNil(t, size)
		var left, wide, high float64
		_, err := fmt.Sscan(strings.Join(size[1:], " "), &left, &wide, &high)
		require.NoError(t, err)
		require.InDelta(t, 16.0/9, wide/high, 0.01, s.Scenario)
		require.InDelta(t, float64(pageWidth/Pixel), wide+2*left, 1, "the content is in the middle")
	}
}

func TestASlideShowsTheLanesThatAreNamed(t *testing.T) {
	s := schedule(t, "fencing-33-34")
	lanes := s.Runs[0].Lanes
	kept, err := chosen(lanes, []string{lanes[0].Node})
	require.NoError(t, err)
	require.NotEmpty(t, kept)
	require.Less(t, len(kept), len(lanes))
	for _, l := range kept {
		require.Equal(t, lanes[0].Node, l.Node)
	}
	one, err := chosen(lanes, []string{lanes[1].Name})
	require.NoError(t, err)
	require.Len(t, one, 1)
	_, err = chosen(lanes, []string{"redis-99"})
	require.ErrorContains(t, err, `there is no lane "redis-99"; want `+lanes[0].Name+", ")
}
