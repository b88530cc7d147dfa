package reports

import (
	"strconv"
	"strings"
)

// ink says what a piece of text means; only a palette makes a colour of it. Amber is for beliefs that overlap and for
// broken promises of the lock, red for damage at the resource alone.
type ink uint8

const (
	plain ink = iota
	strong
	faint
	amber
	red
	green
	differs // a result that was not expected
	firstClient
)

// tone is how data for other pictures calls an ink.
func (k ink) tone() Tone {
	return [...]Tone{
		plain: TonePlain, strong: ToneStrong, faint: ToneFaint, amber: ToneAmber, red: ToneRed, green: ToneGreen,
		differs: ToneDiffers, firstClient: ToneClient1, firstClient + 1: ToneClient2, firstClient + 2: ToneClient3,
		firstClient + 3: ToneClient4,
	}[k]
}

// clientInks is how many colours clients take turns in. None of them is amber, red or green.
const clientInks = 4

func inkOfClient(i int) ink { return firstClient + ink(i%clientInks) }

// palette holds the escape sequences of the inks (ECMA-48, Select Graphic Rendition).
var palette = [...]string{
	plain: "", strong: "1", faint: "2", amber: "33", red: "1;31", green: "32", differs: "7;1",
	firstClient: "36", firstClient + 1: "35", firstClient + 2: "34", firstClient + 3: "96",
}

// cell is one column of a row.
type cell struct {
	r   rune
	ink ink
}

// row is a line of the picture, built column by column.
type row []cell

func newRow(width int) row {
	r := make(row, width)
	for i := range r {
		r[i] = cell{' ', plain}
	}
	return r
}

// put writes text from a column on and cuts it at the end of the row.
func (r row) put(col int, text string, k ink) {
	for _, c := range text {
		if col >= 0 && col < len(r) {
			r[col] = cell{c, k}
		}
		col++
	}
}

// fits reports whether nothing stands in the columns from col on but blanks, with a blank before and after them.
func (r row) fits(col, n int) bool {
	if col < 0 || col+n > len(r) {
		return false
	}
	for i := max(col-1, 0); i < min(col+n+1, len(r)); i++ {
		if r[i].r != ' ' {
			return false
		}
	}
	return true
}

func (r row) blank() bool {
	for _, c := range r {
		if c.r != ' ' {
			return false
		}
	}
	return true
}

func (r row) text(color bool) string {
	end := len(r)
	for end > 0 && r[end-1].r == ' ' {
		end--
	}
	var b, piece strings.Builder
	current := plain
	flush := func() {
		b.WriteString(inked(color, current, piece.String()))
		piece.Reset()
	}
	for _, c := range r[:end] {
		if c.ink != current {
			flush()
			current = c.ink
		}
		piece.WriteRune(c.r)
	}
	flush()
	return b.String()
}

func inked(color bool, k ink, text string) string {
	if !color || text == "" || palette[k] == "" {
		return text
	}
	return "\x1b[" + palette[k] + "m" + text + "\x1b[0m"
}

// glyphs are the signs of a picture. Each is one column wide but for the numbers.
type glyphs struct {
	ascii bool

	believes, starts, ends, dies rune
	waits, paused, down          rune
	granted, lapsed              rune
	levels                       []rune // of a key's time to live, from little to much
	expired, deleted, lost       rune
	both, damage                 rune
	travels, cut                 rune
	enough, tooFew, changes      rune // of a number
	bar, tick, gap               rune

	accepted, refused, harmful, unsure string
	held, violated, vacuous, undecided string
	unjudged, mismatch                 string
	dash, dot, ellipsis, arrow, bullet string
}

func unicodeGlyphs() *glyphs {
	return &glyphs{
		believes: '─', starts: '├', ends: '┤', dies: '╳',
		waits: '·', paused: '░', down: '╱',
		granted: '█', lapsed: '╌',
		levels:  []rune("▁▂▃▄▅▆▇█"),
		expired: '✝', deleted: '┘', lost: '╳',
		both: '▒', damage: '▲',
		travels: '┈', cut: '╳',
		enough: '━', tooFew: '┅', changes: '┿',
		bar: '│', tick: '╷', gap: '⫽',

		accepted: "✓", refused: "✗", harmful: "!", unsure: "?",
		held: "✓", violated: "✗", vacuous: "○", undecided: "?", unjudged: "·", mismatch: "≠",
		dash: "—", dot: "·", ellipsis: "…", arrow: "→", bullet: "•",
	}
}

func asciiGlyphs() *glyphs {
	return &glyphs{
		ascii:    true,
		believes: '-', starts: '[', ends: ']', dies: 'X',
		waits: '.', paused: '%', down: '/',
		granted: '=', lapsed: '~',
		levels:  []rune("12345678"),
		expired: '@', deleted: '\'', lost: 'X',
		both: '#', damage: '^',
		travels: '_', cut: 'x',
		enough: '=', tooFew: ':', changes: '|',
		bar: '|', tick: '|', gap: '/',

		accepted: "+", refused: "x", harmful: "!", unsure: "?",
		held: "+", violated: "x", vacuous: "o", undecided: "?", unjudged: ".", mismatch: "!=",
		dash: "-", dot: "-", ellipsis: "...", arrow: "->", bullet: "*",
	}
}

// of returns the glyph of a sign that a bar is made of or that stands on a lane by itself; 0 of those that do neither.
func (g *glyphs) of(s Sign) rune {
	switch s {
	case SignWaits:
		return g.waits
	case SignBelieves:
		return g.believes
	case SignBegins:
		return g.starts
	case SignEnds:
		return g.ends
	case SignDies:
		return g.dies
	case SignPaused:
		return g.paused
	case SignDown:
		return g.down
	case SignGranted:
		return g.granted
	case SignLapsed:
		return g.lapsed
	case SignExpired:
		return g.expired
	case SignDeleted:
		return g.deleted
	case SignLost:
		return g.lost
	case SignOverlap:
		return g.both
	case SignTravels:
		return g.travels
	case SignCut:
		return g.cut
	case SignDamage:
		return g.damage
	case SignNone, SignLife, SignRead, SignAccepted, SignRefused, SignHarmful, SignUnknown, SignTint:
	}
	return 0
}

// decided is what stands behind an access: how the resource decided on it.
func (g *glyphs) decided(s Sign) string {
	switch s {
	case SignAccepted:
		return g.accepted
	case SignRefused:
		return g.refused
	case SignHarmful:
		return g.harmful
	case SignUnknown:
		return g.unsure
	default:
		return ""
	}
}

// maxNumber is the last number that has a sign of its own in every common font: U+2460 to U+2473.
const maxNumber = 20

// number returns the sign by which the list of events refers to the picture.
func (g *glyphs) number(n int) string {
	if g.ascii {
		return "(" + strconv.Itoa(n) + ")"
	}
	return string(rune('①' + n - 1))
}

// level is the sign for a remaining share of a whole.
func (g *glyphs) level(left, whole int64) rune {
	n := int64(len(g.levels))
	if whole <= 0 {
		return g.levels[n-1]
	}
	// Division first, so that times of many years cannot overflow.
	i := left / max(whole/n, 1)
	return g.levels[min(max(i, 0), n-1)]
}
