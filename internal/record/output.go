package record

import "bytes"

// Writes begins a note with a line that a program has written.
const Writes = "writes: "

// mostSaid is how many lines of a program's output a reader is shown as notes.
const mostSaid = 10

// Output is what a program writes, of which the first lines become notes.
type Output struct {
	rest []byte // a line that has not ended
	said int    // lines that have been noted
}

// Take takes what has been written, and calls note with the text of a note for each line.
func (o *Output) Take(text []byte, note func(text string)) {
	o.rest = append(o.rest, text...)
	for o.said < mostSaid {
		line, rest, whole := bytes.Cut(o.rest, []byte("\n"))
		if !whole {
			return
		}
		note(Writes + string(line))
		o.rest = rest
		o.said++
	}
	o.rest = nil
}
