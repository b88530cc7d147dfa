package svg

import (
	"cmp"
	"slices"
)

// tag is what is written above a lane at a moment: a number in a circle, a label, or both.
type tag struct {
	at     Length // where it belongs
	number int    // 0 if it has none
	label  string
	ink    Ink // of the label
	fill   Ink // of the circle
	title  string
	must   bool // it has to be shown even without a number
	before bool // it ends where it belongs

	x   Length // where it stands
	row int    // 0 is next to the lane
}

// Sizes of tags.
const (
	circle    = 17 * Pixel
	tagHeight = 20 * Pixel
	tagGap    = 2 * Pixel
	maxRows   = 4
	shift     = 24 * Pixel // how far a tag may stand from where it belongs before there is another row
)

var tagFont = Font{Size: 115, Ink: Words, Halo: Paper}

func (t *tag) width() Length {
	w := Length(0)
	if t.number > 0 {
		w = circle
	}
	if t.label != "" {
		w += tagFont.Width(t.label) + 2*Pixel
	}
	return w
}

// left is where a tag would like to begin: its circle stands over its moment.
func (t *tag) left() Length {
	if t.number > 0 {
		return t.at - circle/2
	}
	if t.before {
		return t.at - t.width() - 4*Pixel
	}
	return t.at + 3*Pixel
}

// arrange finds room for the tags of a lane between two edges, in as few rows as it takes, and returns how many. Those
// with numbers all find some, a little to the side if need be; those without are left out where there is none.
func arrange(tags []tag, from, to Length) (placed []tag, rows int) {
	slices.SortStableFunc(tags, func(a, b tag) int { return cmp.Compare(a.at, b.at) })
	var numbered, others []tag
	for _, t := range tags {
		if t.number > 0 || t.must {
			numbered = append(numbered, t)
		} else {
			others = append(others, t)
		}
	}
	for rows = 1; len(numbered) > 0; rows++ {
		if fits := spread(numbered, rows, from, to); fits || rows == maxRows {
			if !fits {
				numbered = bare(numbered, from, to)
			}
			break
		}
	}
	placed = numbered
	for _, t := range others {
		for row := range rows {
			if x, ok := free(placed, t, row, from, to); ok {
				t.x, t.row = x, row
				placed = append(placed, t)
				break
			}
		}
	}
	if len(placed) == 0 {
		return nil, 0
	}
	return placed, rows
}

// spread shares tags out to rows and moves those of a row as little as possible so that none covers another. It
// reports whether none had to be moved far.
func spread(tags []tag, rows int, from, to Length) bool {
	fits := true
	for row := range rows {
		var list []*tag
		for i := row; i < len(tags); i += rows {
			tags[i].row = row
			list = append(list, &tags[i])
		}
		fits = inLine(list, from, to) && fits
	}
	return fits
}

// inLine places tags beside one another. It is isotonic regression, by pooling neighbours that push one another: with
// what stands before a tag taken off its place, places may only grow.
func inLine(tags []*tag, from, to Length) bool {
	type pool struct{ sum, count Length }
	var pools []pool
	before := Length(0)
	offsets := make([]Length, len(tags))
	for i, t := range tags {
		offsets[i] = before
		pools = append(pools, pool{t.left() - before, 1})
		for n := len(pools); n > 1 && pools[n-2].sum*pools[n-1].count >= pools[n-1].sum*pools[n-2].count; n-- {
			pools[n-2].sum += pools[n-1].sum
			pools[n-2].count += pools[n-1].count
			pools = pools[:n-1]
		}
		before += t.width() + tagGap
	}
	fits := before-tagGap <= to-from
	i := 0
	for _, p := range pools {
		for range p.count {
			t := tags[i]
			t.x = max(min(p.sum/p.count, to-before+tagGap), from) + offsets[i]
			near := t.x-t.left() <= shift && t.left()-t.x <= shift
			fits = fits && (near || t.left() < from || t.left()+t.width() > to)
			i++
		}
	}
	return fits
}

// bare gives up the labels of tags of which there are too many, and then the tags that are still too many.
func bare(tags []tag, from, to Length) []tag {
	room := int((to - from) / (circle + tagGap) * maxRows)
	tags = tags[:min(len(tags), room)]
	widest := Length(0)
	for i := range tags {
		widest = max(widest, tags[i].width())
	}
	if (widest+tagGap)*Length((len(tags)+maxRows-1)/maxRows) > to-from {
		for i := range tags {
			tags[i].label = ""
		}
	}
	spread(tags, maxRows, from, to)
	return tags
}

// free looks for room in a row where a tag belongs, or next to that.
func free(placed []tag, t tag, row int, from, to Length) (x Length, ok bool) {
	w := t.width()
	for _, x := range []Length{t.left(), t.left() - w/2, t.left() - w} {
		clear := !slices.ContainsFunc(placed, func(o tag) bool {
			return o.row == row && x < o.x+o.width()+2*tagGap && o.x < x+w+2*tagGap
		})
		if clear && x >= from && x+w <= to {
			return x, true
		}
	}
	return 0, false
}
