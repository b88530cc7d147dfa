package comparison

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/reports/internal/svg"
)

// contrast is that of two colours, as WCAG 2.2 defines it.
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	luminance := func(color string) float64 {
		sum := 0.0
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			n, err := strconv.ParseUint(color[1+2*i:3+2*i], 16, 8)
			require.NoError(t, err)
			c := float64(n) / 255
			if c <= 0.04045 {
				c /= 12.92
			} else {
				c = math.Pow((c+0.055)/1.055, 2.4)
			}
			sum += weight * c
		}
		return sum
	}
	light, dark := luminance(a), luminance(b)
	return (max(light, dark) + 0.05) / (min(light, dark) + 0.05)
}

func TestWhatIsWrittenOnShadesCanBeRead(t *testing.T) {
	list := slices.Concat(reds[:], ambers[:], []shadeInk{
		inkOf(green, 0), inkOf(grey, 0), inkOf(plain, 0), {svg.Paper, link}, {svg.Shade, link},
	})
	names := make(map[string]bool)
	for _, k := range list {
		require.GreaterOrEqual(t, contrast(t, k.wash.Light, k.words.Light), 4.5, "%s, light", k.words.Class)
		require.GreaterOrEqual(t, contrast(t, k.wash.Dark, k.words.Dark), 4.5, "%s, dark", k.words.Class)
		names[k.wash.Class] = true
	}
	require.Len(t, names, len(list)-2, "but for paper and shade, which are there twice")
}

// TestNoTextOfAPictureLiesOnAnother holds the room of each text against that of all others.
func TestNoTextOfAPictureLiesOnAnother(t *testing.T) {
	for _, h := range heats(t) {
		p, s := drawHeat(&h, 95)
		apart(t, p.Texts(), s)
	}
	p, s := drawMatrix(newBoard(load(t)))
	apart(t, p.Texts(), s)
}

func apart(t *testing.T, texts []svg.Written, s svg.Sheet) {
	t.Helper()
	for i, a := range texts {
		for _, b := range texts[:i] {
			require.False(t, a.Box.Overlaps(b.Box), "%q lies on %q", a.Text, b.Text)
		}
		in := a.Box.X >= 0 && a.Box.Y >= 0 && a.Box.X+a.Box.W <= s.Width && a.Box.Y+a.Box.H <= s.Height
		require.True(t, in, "%q is cut off", a.Text)
	}
}

func TestPicturesAreSVG(t *testing.T) {
	c := load(t)
	for name, write := range forms(c) {
		if !strings.HasSuffix(name, ".svg") {
			continue
		}
		text := written(t, write)
		d := xml.NewDecoder(strings.NewReader(text))
		for {
			_, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err, name)
		}
		require.NotContains(t, text, "<script", name)
	}
}

func TestAFieldIsGreenOnlyIfItWasInDanger(t *testing.T) {
	for f, want := range map[field]tone{
		{0, 0, 10, 0}: grey, {0, 1, 10, 0}: green, {1, 1, 10, 0}: red, {1, 0, 10, 0}: red, {0, 1, 10, 1}: grey, {1, 1, 10, 1}: red,
	} {
		require.Equal(t, want, f.tone(resource), "%v", f)
	}
	require.Equal(t, amber, field{1, 1, 10, 0}.tone("mutual-exclusion"))
}

// TestAHeatMapShowsEachField reads the fields' titles, and what is written on them.
func TestAHeatMapShowsEachField(t *testing.T) {
	h := &heats(t)[0]
	text := written(t, func(w io.Writer) error { return HeatSVG(w, h, 95) })
	hatched := 0
	for y, row := range h.Violated {
		for x, n := range row {
			f := fieldOf(h, y, x)
			require.Contains(t, text, fmt.Sprintf("lease %s, pause %s: violated in %d of 500 runs, exposed in %d<",
				h.Rows[y], h.Columns[x], n, h.InDanger[y][x]))
			if f.tone(h.Property) == green {
				hatched++
			}
		}
	}
	green := regexp.MustCompile(` \.(\w+)\{stroke:` + svg.Green.Light + `;opacity:0\.35\}`).FindStringSubmatch(text)
	require.Len(t, green, 2)
	lines := strings.Count(text, `class="`+green[1]+`"`)
	require.Equal(t, hatched+1, lines, "hatched is what was exposed and never violated, and its key")
	require.Contains(t, text, "below 0.74 % with a confidence of 95 %")
}
