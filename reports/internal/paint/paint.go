// Package paint is what a picture in text is made of: inks, glyphs, and rows of cells.
package paint

import (
	"strconv"
	"strings"

	"github.com/locksim/locksim/reports/internal/timeline"
)

// Ink says what a piece of text means; only a palette makes a colour of it. Amber is for beliefs that overlap and for
// broken promises of the lock, red for damage at the resource alone.
type Ink uint8

// The inks. Of several results that share a cell the last ink counts: what held does not hide what was violated.
const (
	Plain Ink = iota
	Strong
	Faint
	Green
	Near // it held, but only just
	Amber
	Red
	Differs // a result that was not expected
	firstClient
)

// Tone is how data for other pictures calls an ink.
func (k Ink) Tone() timeline.Tone {
	return [...]timeline.Tone{
		Plain: timeline.TonePlain, Strong: timeline.ToneStrong, Faint: timeline.ToneFaint, Amber: timeline.ToneAmber, Red: timeline.ToneRed, Green: timeline.ToneGreen,
		Near:    timeline.ToneNear,
		Differs: timeline.ToneDiffers, firstClient: timeline.ToneClient1, firstClient + 1: timeline.ToneClient2, firstClient + 2: timeline.ToneClient3,
		firstClient + 3: timeline.ToneClient4,
	}[k]
}

// clientInks is how many colours clients take turns in. None of them is amber, red or green.
const clientInks = 4

// InkOfClient is the ink of the i-th client.
func InkOfClient(i int) Ink { return firstClient + Ink(i%clientInks) }

// palette holds the escape sequences of the inks (ECMA-48, Select Graphic Rendition).
var palette = [...]string{
	Plain: "", Strong: "1", Faint: "2", Near: "33", Amber: "33", Red: "1;31", Green: "32", Differs: "7;1",
	firstClient: "36", firstClient + 1: "35", firstClient + 2: "34", firstClient + 3: "96",
}

// Cell is one column of a row.
type Cell struct {
	Rune rune
	Ink  Ink
}

// Row is a line of the picture, built column by column.
type Row []Cell

// NewRow is a row of blanks.
func NewRow(width int) Row {
	r := make(Row, width)
	for i := range r {
		r[i] = Cell{' ', Plain}
	}
	return r
}

// Put writes text from a column on and cuts it at the end of the row.
func (r Row) Put(col int, text string, k Ink) {
	for _, c := range text {
		if col >= 0 && col < len(r) {
			r[col] = Cell{c, k}
		}
		col++
	}
}

// Fits reports whether nothing stands in the columns from col on but blanks, with a blank before and after them.
func (r Row) Fits(col, n int) bool {
	if col < 0 || col+n > len(r) {
		return false
	}
	for i := max(col-1, 0); i < min(col+n+1, len(r)); i++ {
		if r[i].Rune != ' ' {
			return false
		}
	}
	return true
}

// Blank reports whether nothing stands in the row.
func (r Row) Blank() bool {
	for _, c := range r {
		if c.Rune != ' ' {
			return false
		}
	}
	return true
}

// Text is the row without the blanks at its end.
func (r Row) Text(color bool) string {
	end := len(r)
	for end > 0 && r[end-1].Rune == ' ' {
		end--
	}
	var b, piece strings.Builder
	current := Plain
	flush := func() {
		b.WriteString(Inked(color, current, piece.String()))
		piece.Reset()
	}
	for _, c := range r[:end] {
		if c.Ink != current {
			flush()
			current = c.Ink
		}
		piece.WriteRune(c.Rune)
	}
	flush()
	return b.String()
}

// Inked puts text between the escape sequences of an ink, if there are to be colours.
func Inked(color bool, k Ink, text string) string {
	if !color || text == "" || palette[k] == "" {
		return text
	}
	return "\x1b[" + palette[k] + "m" + text + "\x1b[0m"
}

// Glyphs are the signs of a picture. Each is one column wide but for the numbers.
type Glyphs struct {
	ASCII bool

	Believes, starts, ends, dies rune
	Waits, Paused, Down          rune
	Granted, Lapsed              rune
	Levels                       []rune // of a key's time to live, from little to much
	Expired, Deleted, lost       rune
	both, damage, fated          rune
	Travels, cut                 rune
	Enough, TooFew, Changes      rune // of a number
	Bar, Tick, Gap               rune

	Accepted, Refused, Harmful, Unsure string
	Held, Violated, Vacuous, Undecided string
	Unseen, Near                       string
	Unjudged, Mismatch                 string
	Dash, Dot, Ellipsis, Bullet        string
}

// Unicode are the glyphs for terminals that show all of them.
func Unicode() *Glyphs {
	return &Glyphs{
		Believes: '─', starts: '├', ends: '┤', dies: '╳',
		Waits: '·', Paused: '░', Down: '╱',
		Granted: '█', Lapsed: '╌',
		Levels:  []rune("▁▂▃▄▅▆▇█"),
		Expired: '✝', Deleted: '┘', lost: '╳',
		both: '▒', damage: '▲', fated: '═',
		Travels: '┈', cut: '╳',
		Enough: '━', TooFew: '┅', Changes: '┿',
		Bar: '│', Tick: '╷', Gap: '⫽',

		Accepted: "✓", Refused: "✗", Harmful: "!", Unsure: "?",
		Held: "✓", Violated: "✗", Vacuous: "○", Undecided: "?", Unseen: "◌", Near: "≈", Unjudged: "·", Mismatch: "≠",
		Dash: "—", Dot: "·", Ellipsis: "…", Bullet: "•",
	}
}

// ASCII are glyphs of one byte each.
func ASCII() *Glyphs {
	return &Glyphs{
		ASCII:    true,
		Believes: '-', starts: '[', ends: ']', dies: 'X',
		Waits: '.', Paused: '%', Down: '/',
		Granted: '=', Lapsed: '~',
		Levels:  []rune("12345678"),
		Expired: '@', Deleted: '\'', lost: 'X',
		both: '#', damage: '^', fated: '"',
		Travels: '_', cut: 'x',
		Enough: '=', TooFew: ':', Changes: '|',
		Bar: '|', Tick: '|', Gap: '/',

		Accepted: "+", Refused: "x", Harmful: "!", Unsure: "?",
		Held: "+", Violated: "x", Vacuous: "o", Undecided: "?", Unseen: "-", Near: "~", Unjudged: ".", Mismatch: "!=",
		Dash: "-", Dot: "-", Ellipsis: "...", Bullet: "*",
	}
}

// Of returns the glyph of a sign that a bar is made of or that stands on a lane by itself; 0 of those that do neither.
func (g *Glyphs) Of(s timeline.Sign) rune {
	switch s {
	case timeline.SignWaits:
		return g.Waits
	case timeline.SignBelieves:
		return g.Believes
	case timeline.SignBegins:
		return g.starts
	case timeline.SignEnds:
		return g.ends
	case timeline.SignDies:
		return g.dies
	case timeline.SignPaused:
		return g.Paused
	case timeline.SignDown:
		return g.Down
	case timeline.SignGranted:
		return g.Granted
	case timeline.SignLapsed:
		return g.Lapsed
	case timeline.SignExpired:
		return g.Expired
	case timeline.SignDeleted:
		return g.Deleted
	case timeline.SignLost:
		return g.lost
	case timeline.SignOverlap:
		return g.both
	case timeline.SignTravels:
		return g.Travels
	case timeline.SignCut:
		return g.cut
	case timeline.SignDamage:
		return g.damage
	case timeline.SignFated:
		return g.fated
	case timeline.SignNone, timeline.SignLife, timeline.SignRead, timeline.SignAccepted, timeline.SignRefused, timeline.SignHarmful, timeline.SignUnknown, timeline.SignTint:
	}
	return 0
}

// Decided is what stands behind an access: how the resource decided on it.
func (g *Glyphs) Decided(s timeline.Sign) string {
	switch s {
	case timeline.SignAccepted:
		return g.Accepted
	case timeline.SignRefused:
		return g.Refused
	case timeline.SignHarmful:
		return g.Harmful
	case timeline.SignUnknown:
		return g.Unsure
	default:
		return ""
	}
}

// MaxNumber is the last number that has a sign of its own in every common font: U+2460 to U+2473.
const MaxNumber = 20

// Number returns the sign by which the list of events refers to the picture.
func (g *Glyphs) Number(n int) string {
	if g.ASCII {
		return "(" + strconv.Itoa(n) + ")"
	}
	return string(rune('①' + n - 1))
}

// Level is the sign for a remaining share of a whole.
func (g *Glyphs) Level(left, whole int64) rune {
	n := int64(len(g.Levels))
	if whole <= 0 {
		return g.Levels[n-1]
	}
	// Division first, so that times of many years cannot overflow.
	i := left / max(whole/n, 1)
	return g.Levels[min(max(i, 0), n-1)]
}
