package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
)

// Kind is a kind of ledgers: what their lines are. The first line of one says what the others are about.
type Kind struct {
	Schema string // the first word of such a ledger
	Writer string // the command that writes it
	Head   func(text []byte) (Head, error)
	Line   func(text []byte) (Line, error)
	// Span reads what Line's Span says from the beginning of a line, if that has the form in which lines are written; nil if it never has.
	Span func(text []byte) (from uint64, runs int, ok bool)
}

// Head is the first line of a ledger.
type Head interface {
	Text() []byte
	Differences(other Head) []string // in what two of the same kind differ; empty if they are of one campaign
}

// Line is what a ledger says of consecutive runs.
type Line interface {
	Span() (from uint64, runs int)
	Text() []byte
}

// Yielding is a line that may not have all of its runs. Another one about the same runs is taken instead of it.
type Yielding interface{ Yields() bool }

func yields(x Line) bool {
	y, ok := x.(Yielding)
	return ok && y.Yields()
}

// Encode writes a line: JSON, a space, and the CRC-32 (IEEE) of its bytes in hexadecimal.
func Encode(x any) []byte {
	text, err := json.Marshal(x)
	if err != nil {
		panic("a line should have a text: " + err.Error())
	}
	return fmt.Appendf(text, " %08x\n", crc32.ChecksumIEEE(text))
}

var (
	errNoSum    = errors.New("it has no checksum")
	errWrongSum = errors.New("its checksum is wrong: it is damaged")
)

// sumLength is how long a checksum is: a space, eight hexadecimal digits, and the line's end.
const sumLength = 10

// hasSum reports whether a line ends with something else than its JSON. Lines of old do not.
func hasSum(line []byte) bool { return !bytes.HasSuffix(line, []byte("}\n")) }

// content is what stands before a line's checksum, which is compared.
func content(line []byte) ([]byte, error) {
	if !hasSum(line) {
		return line, nil
	}
	at := max(len(line)-sumLength, 0)
	text := line[:at]
	if !bytes.Equal(line[at:], fmt.Appendf(nil, " %08x\n", crc32.ChecksumIEEE(text))) {
		return nil, errWrongSum
	}
	return text, nil
}

// Decode is the inverse of Encode. It refuses what it does not know.
func Decode(line []byte, x any) error {
	text, err := content(line)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(x)
}

// SchemaOf is the schema that a first line names; "" if it names none.
func SchemaOf(line []byte) string {
	var head struct{ Schema string }
	if json.NewDecoder(bytes.NewReader(line)).Decode(&head) != nil {
		return ""
	}
	return head.Schema
}

// head reads a first line.
func (k *Kind) head(text []byte) (Head, error) {
	if SchemaOf(text) != k.Schema {
		return nil, fmt.Errorf("it does not begin as a ledger of %s does, with the schema %q", k.Writer, k.Schema)
	}
	return k.Head(text)
}
