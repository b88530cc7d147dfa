package svg

import (
	"strings"
	"unicode/utf8"
)

// Font says how a line of text looks.
type Font struct {
	Ink    Ink
	Size   Length // 12 pixels if 0
	Bold   bool
	Prose  bool // for sentences; else all letters are equally wide
	Anchor Anchor
	Halo   Ink  // keeps what is drawn below away from the letters
	Turned bool // it is read upwards, as the head of a narrow column
}

// Anchor says which part of a text stands at its point.
type Anchor int

// The anchors.
const (
	Start Anchor = iota
	Middle
	End
)

const usualSize = 12 * Pixel

// Readers' machines choose the first of these that they have.
const (
	dataFonts  = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
	proseFonts = "system-ui,sans-serif"
)

func (f Font) size() Length {
	if f.Size == 0 {
		return usualSize
	}
	return f.Size
}

// Width is how wide a text is at most: nobody knows which font a reader has. For sentences it is measured in a font
// that is wider than those that systems come with.
func (f Font) Width(text string) Length {
	sum := 0
	for _, r := range text {
		sum += f.letter(r)
	}
	return Length((int(f.size())*sum + 999) / 1000)
}

// letter is the width of a letter in thousandths of the font's size.
func (f Font) letter(r rune) int {
	switch {
	case r >= 0x1100 && (r < 0x2000 || r >= 0x2300): // ideographs, emoji and others that fonts of letters lack
		return 1300
	case !f.Prose:
		return 605 // 602 in DejaVu Sans Mono and Menlo, 600 in most
	case r < ' ' || r > '~':
		return 1005
	case f.Bold:
		return 10 * int(boldWidths[r-' '])
	default:
		return 10 * int(proseWidths[r-' '])
	}
}

// The widths of the letters from the blank to "~" in DejaVu Sans and DejaVu Sans Bold, in hundredths of the size,
// rounded up.
var (
	proseWidths = [...]uint8{
		32, 41, 46, 84, 64, 96, 78, 28, 40, 40, 50, 84, 32, 37, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64,
		34, 34, 84, 84, 84, 54, 100, 69, 69, 70, 78, 64, 58, 78, 76, 30, 30, 66, 56, 87, 75, 79, 61, 79, 70,
		64, 62, 74, 69, 99, 69, 62, 69, 40, 34, 40, 84, 50, 50, 62, 64, 55, 64, 62, 36, 64, 64, 28, 28, 58, 28,
		98, 64, 62, 64, 64, 42, 53, 40, 64, 60, 82, 60, 60, 53, 64, 34, 64, 84,
	}
	boldWidths = [...]uint8{
		35, 46, 53, 84, 70, 101, 88, 31, 46, 46, 53, 84, 38, 42, 38, 37, 70, 70, 70, 70, 70, 70, 70, 70, 70,
		70, 40, 40, 84, 84, 84, 58, 100, 78, 77, 74, 83, 69, 69, 83, 84, 38, 38, 78, 64, 100, 84, 85, 74, 85,
		77, 72, 69, 82, 78, 111, 78, 73, 73, 46, 37, 46, 84, 50, 50, 68, 72, 60, 72, 68, 44, 72, 72, 35, 35,
		67, 35, 105, 72, 69, 72, 72, 50, 60, 48, 72, 66, 93, 65, 66, 59, 72, 37, 72, 84,
	}
)

// box is the room that a text takes, with its highest and its lowest letters.
func (f Font) box(at Point, text string) Box {
	w, size := f.Width(text), f.size()
	x := at.X
	switch f.Anchor {
	case Start:
	case Middle:
		x -= w / 2
	case End:
		x -= w
	}
	b := Box{X: x, Y: at.Y - size*8/10, W: w, H: size}
	if f.Turned { // by a quarter around the point
		b = Box{X: at.X + b.Y - at.Y, Y: at.Y - (b.X - at.X) - b.W, W: b.H, H: b.W}
	}
	return b
}

// Wrap breaks a text into lines that are no wider than width, between words where that is possible.
func (f Font) Wrap(text string, width Length) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		joined := word
		if line != "" {
			joined = line + " " + word
		}
		if f.Width(joined) <= width {
			line = joined
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		for f.Width(word) > width && utf8.RuneCountInString(word) > 1 { // one that is wider than the column
			part := f.Cut(word, width, "")
			if part == "" {
				_, n := utf8.DecodeRuneInString(word)
				part = word[:n]
			}
			lines = append(lines, part)
			word = word[len(part):]
		}
		line = word
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// Cut returns as much of a text as is no wider than width, with an ending that says so if that is not all.
func (f Font) Cut(text string, width Length, ending string) string {
	if f.Width(text) <= width {
		return text
	}
	sum := f.Width(ending)
	for i, r := range text {
		sum += Length((int(f.size())*f.letter(r) + 999) / 1000)
		if sum > width {
			return text[:i] + ending
		}
	}
	return text + ending
}

// CutMiddle does the same, but leaves the text its end: names that are numbered differ in it.
func (f Font) CutMiddle(text string, width Length, middle string) string {
	if f.Width(text) <= width {
		return text
	}
	letters := []rune(text)
	at := len(letters)
	for at > 0 && 2*f.Width(string(letters[at-1:])) <= width-f.Width(middle) {
		at--
	}
	end := string(letters[at:])
	return f.Cut(string(letters[:at]), width-f.Width(end), middle) + end
}
