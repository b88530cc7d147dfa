package svg

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryStyleOfAPictureIsInItsSheet(t *testing.T) {
	for _, name := range golden {
		picture := written(t, schedule(t, name))
		sheet, body, _ := strings.Cut(picture, "</style>")
		light, dark, _ := strings.Cut(sheet, "@media")
		used := map[string]bool{}
		for _, part := range strings.Split(body, ` class="`)[1:] {
			class, _, _ := strings.Cut(part, `"`)
			used[class] = true
		}
		for class := range used {
			rule := "\n#locksim ." + class + "{"
			require.Equal(t, 1, strings.Count(light, rule), class)
			require.Equal(t, 1, strings.Count(dark, rule), class)
		}
		require.Equal(t, len(used), strings.Count(light, "\n#locksim ."), "no rule is for nothing")
	}
}

func TestClassesHaveNamesWithoutEnd(t *testing.T) {
	seen := map[string]bool{}
	for i := range 2000 {
		require.Regexp(t, "^[a-z]+$", className(i))
		require.False(t, seen[className(i)])
		seen[className(i)] = true
	}
	require.Equal(t, []string{"a", "z", "aa", "az", "ba"}, []string{
		className(0), className(25), className(26), className(51), className(52),
	})
}

func TestPicturesOfOnePageKeepTheirStyles(t *testing.T) {
	draw := func(id string, k Ink) string {
		var c Canvas
		var b strings.Builder
		c.Rect(Box{W: Pixel, H: Pixel}, Paint{Fill: k})
		require.NoError(t, c.Write(&b, Sheet{ID: id}))
		return b.String()
	}
	require.Contains(t, draw("one", Red), "#one .a{fill:"+Red.Light+"}")
	require.Contains(t, draw("two", Green), "#two .a{fill:"+Green.Light+"}")
}
