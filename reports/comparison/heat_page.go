package comparison

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
)

// HeatPage writes heat maps as one page that needs no network and no script, with a text below them.
func HeatPage(w io.Writer, title string, heats []Heat, confidence int, text string) error {
	page := struct {
		Title, Text string
		Pictures    []template.HTML
	}{Title: title, Text: text}
	for i := range heats {
		picture, sheet := drawHeat(&heats[i], confidence)
		sheet.ID = fmt.Sprintf("heat-%d", i)
		var b bytes.Buffer
		if err := picture.Write(&b, sheet); err != nil {
			return err
		}
		page.Pictures = append(page.Pictures, template.HTML(b.String()))
	}
	t, err := template.New("heats").Parse(asset("heats.html"))
	if err != nil {
		return err
	}
	return t.Execute(w, page)
}
