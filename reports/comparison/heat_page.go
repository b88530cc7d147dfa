package comparison

import (
	"bytes"
	"fmt"
	"io"

	"github.com/locksim/locksim/reports/internal/fill"
)

// HeatPage writes heat maps as one page that needs no network and no script, with a text below them.
func HeatPage(w io.Writer, title string, heats []Heat, confidence int, text string) error {
	page := struct {
		Title, Text string
		Pictures    []fill.Raw
	}{Title: title, Text: text}
	for i := range heats {
		picture, sheet := drawHeat(&heats[i], confidence)
		sheet.ID = fmt.Sprintf("heat-%d", i)
		var b bytes.Buffer
		if err := picture.Write(&b, sheet); err != nil {
			return err
		}
		page.Pictures = append(page.Pictures, fill.Raw(b.String()))
	}
	return fill.Page(w, asset("heats.html"), page)
}
