package svg

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestTextIsBrokenBetweenWords(t *testing.T) {
	f := Font{Size: 10 * Pixel} // a letter takes 6.05 pixels
	require.Equal(t, []string{"one two", "three"}, f.Wrap("one two  three", 50*Pixel))
	require.Equal(t, []string{"a", "verylong", "word"}, f.Wrap("a verylongword", 50*Pixel))
	require.Empty(t, f.Wrap("  ", 50*Pixel))
}

func TestTextThatIsCutSaysSo(t *testing.T) {
	f := Font{Size: 10 * Pixel}
	require.Equal(t, "short", f.Cut("short", 50*Pixel, "…"))
	require.Equal(t, "too lon…", f.Cut("too long a text", 50*Pixel, "…"))
	require.Equal(t, "short", f.CutMiddle("short", 50*Pixel, "…"))
	for _, name := range []string{"worker-17", "worker-with-a-very-long-name-17"} {
		require.LessOrEqual(t, f.Width(f.CutMiddle(name, 50*Pixel, "…")), 50*Pixel)
	}
	require.Equal(t, "work…-17", f.CutMiddle("worker-with-a-very-long-name-17", 50*Pixel, "…"))
}

func TestLettersThatFontsLackAreTakenToBeWide(t *testing.T) {
	f := Font{}
	require.Less(t, f.Width("a"), f.Width("鎖"))
	require.Equal(t, f.Width("a"), f.Width("→"))
	require.Greater(t, Font{Prose: true, Bold: true}.Width("lock"), Font{Prose: true}.Width("lock"))
}

func TestNoLineIsWiderThanItsColumn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := Font{Prose: rapid.Bool().Draw(t, "prose"), Bold: rapid.Bool().Draw(t, "bold")}
		text := rapid.StringOf(rapid.RuneFrom([]rune("abmW .—鎖"))).Draw(t, "text")
		width := Length(rapid.IntRange(200, 2000).Draw(t, "width"))
		lines := f.Wrap(text, width)
		for _, line := range lines {
			require.LessOrEqual(t, f.Width(line), width)
		}
		whole := strings.Join(strings.Fields(text), "")
		require.Equal(t, whole, strings.ReplaceAll(strings.Join(lines, ""), " ", ""), "nothing is left out")
	})
}
