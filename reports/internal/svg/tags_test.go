package svg

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestATagStandsOverItsMomentWhereThereIsRoom(t *testing.T) {
	placed, rows := arrange([]tag{{at: 5000, number: 2}, {at: 1000, number: 1, label: "token 1"}}, 0, 9000)
	require.Equal(t, 1, rows)
	require.Equal(t, []Length{1000 - circle/2, 5000 - circle/2}, []Length{placed[0].x, placed[1].x})
}

func TestTagsOfOneMomentShareTheRoomAroundIt(t *testing.T) {
	placed, rows := arrange([]tag{{at: 5000, number: 1}, {at: 5000, number: 2}}, 0, 9000)
	require.Equal(t, 1, rows)
	require.Equal(t, 5000-circle-tagGap/2, placed[0].x)
	require.Equal(t, 5000+tagGap/2, placed[1].x)
}

func TestManyTagsTakeMoreRowsBeforeTheyStandFarAway(t *testing.T) {
	var tags []tag
	for i := range 8 {
		tags = append(tags, tag{at: 5000, number: i + 1})
	}
	placed, rows := arrange(tags, 0, 9000)
	require.Len(t, placed, 8)
	require.Greater(t, rows, 1)
	for _, g := range placed {
		require.LessOrEqual(t, max(g.x-g.left(), g.left()-g.x), shift)
	}
}

func TestLabelsWithoutNumbersAreLeftOutWhereThereIsNoRoom(t *testing.T) {
	tags := []tag{{at: 5000, number: 1, label: "a long label"}, {at: 5100, label: "x"}, {at: 8000, label: "y"}}
	placed, _ := arrange(tags, 0, 9000)
	require.Equal(t, []string{"a long label", "y"}, []string{placed[0].label, placed[1].label})
	require.Len(t, placed, 2)
}

func TestTagsNeverCoverOneAnother(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const from, to = 1000, 10000
		var tags []tag
		for i := range rapid.IntRange(0, 60).Draw(t, "tags") {
			g := tag{at: Length(rapid.IntRange(from, to).Draw(t, "at"))}
			if rapid.Bool().Draw(t, "numbered") {
				g.number = i + 1
			}
			g.label = strings.Repeat("m", rapid.IntRange(0, 20).Draw(t, "label"))
			if g.number > 0 || g.label != "" {
				tags = append(tags, g)
			}
		}
		placed, rows := arrange(slices.Clone(tags), from, to)
		numbered := func(list []tag) (n int) {
			for _, g := range list {
				if g.number > 0 {
					n++
				}
			}
			return n
		}
		require.Equal(t, numbered(tags), numbered(placed), "a number is missing")
		for i, a := range placed {
			require.GreaterOrEqual(t, a.x, Length(from))
			require.LessOrEqual(t, a.x+a.width(), Length(to))
			require.Less(t, a.row, rows)
			for _, b := range placed[i+1:] {
				apart := a.row != b.row || a.x+a.width() <= b.x || b.x+b.width() <= a.x
				require.True(t, apart, "%+v and %+v", a, b)
			}
		}
	})
}
