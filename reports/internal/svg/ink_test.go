package svg

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// luminance is that of a colour, as WCAG 2 computes it.
func luminance(t *testing.T, color string) float64 {
	t.Helper()
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(color[1+2*i:3+2*i], 16, 8)
		require.NoError(t, err)
		v := float64(n) / 255
		if v <= 0.03928 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += weight * v
	}
	return sum
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func TestLettersCanBeReadOnWhateverTheyStandOn(t *testing.T) {
	letters := []Ink{Words, Quiet, Amber, Red, Green}
	for _, h := range hues {
		letters = append(letters, h.Line)
	}
	for _, k := range letters {
		for _, ground := range []Ink{Paper, Shade, amberWash, redWash, GreenWash} {
			require.GreaterOrEqual(t, contrast(t, k.Light, ground.Light), 4.5, "%s on %s", k.Class, ground.Class)
			require.GreaterOrEqual(t, contrast(t, k.Dark, ground.Dark), 4.5, "%s on %s, dark", k.Class, ground.Class)
		}
	}
	for _, ground := range []Ink{Words, Amber, Red, Green} { // of numbers
		require.GreaterOrEqual(t, contrast(t, Paper.Light, ground.Light), 4.5, ground.Class)
		require.GreaterOrEqual(t, contrast(t, Paper.Dark, ground.Dark), 4.5, ground.Class)
	}
}

func TestBarsCanBeToldFromThePaper(t *testing.T) {
	for _, h := range append(hues[:], nobodys) {
		require.GreaterOrEqual(t, contrast(t, h.Line.Light, Paper.Light), 3.0, h.Line.Class)
		require.GreaterOrEqual(t, contrast(t, h.Line.Dark, Paper.Dark), 3.0, h.Line.Class)
	}
}

// TestTwoBluesCanBeToldApart of the first and the third client, by how light they are.
func TestTwoBluesCanBeToldApart(t *testing.T) {
	a, c := hues[0].Fill, hues[2].Fill
	require.GreaterOrEqual(t, contrast(t, a.Light, c.Light), 2.0)
	require.GreaterOrEqual(t, contrast(t, a.Dark, c.Dark), 2.0)
}

func TestNoTwoInksShareAClass(t *testing.T) {
	inks := []Ink{
		Paper, Shade, Words, Quiet, Rule, Solid, Amber, amberWash, amberTint, amberFill, Red, redWash, Green, GreenWash,
	}
	for _, h := range hues {
		inks = append(inks, h.Line, h.Fill, h.Wash)
	}
	seen := map[string]bool{}
	for _, k := range inks {
		require.False(t, seen[k.Class], k.Class)
		seen[k.Class] = true
	}
}
