package comparison

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/locksim/locksim/internal/search/compare"
)

// JSON writes all that is known, as one document. Its members stand on lines of their own, and so do the elements of
// its lists, so that two documents can be compared line by line.
func JSON(w io.Writer, c *compare.Comparison) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(c); err != nil {
		return fmt.Errorf("json: %w", err)
	}
	_, err := w.Write(lines(b.Bytes()))
	return err
}

// lines breaks a document after the commas of its members and of their elements.
func lines(document []byte) []byte {
	var b bytes.Buffer
	depth, quoted, escaped := 0, false, false
	for _, c := range document {
		b.WriteByte(c)
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		case c == ',' && depth <= 2:
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}
