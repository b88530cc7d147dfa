package fill

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAPageIsFilled(t *testing.T) {
	type part struct {
		Name string
		List []string
	}
	value := struct {
		Text  string
		Style Raw
		Part  part
		Parts []part
		No    bool
	}{`<a> & "b"`, "a > b", part{"one", []string{"x", "y"}}, []part{{"p", nil}, {"q", []string{"z"}}}, false}
	for template, want := range map[string]string{
		"{{.Text}}{{.Style}}": `&lt;a&gt; &amp; &#34;b&#34;a > b`,
		"{{if .No}}a{{else}}b{{end}}{{if .Text}}c{{end}}{{if .No}}d{{end}}":      "bc",
		"{{with .Part}}{{.Name}}{{end}}{{.Part.Name}}":                           "oneone",
		"{{range .Parts}}{{.Name}}{{range .List}}[{{.}}]{{else}}-{{end}}{{end}}": "p-q[z]",
		"{{define \"x\"}}({{.Name}}){{end -}}\n\n{{template \"x\" .Part}}":       "(one)",
	} {
		var b strings.Builder
		require.NoError(t, Page(&b, template, &value))
		require.Equal(t, want, b.String(), template)
	}
	for _, faulty := range []string{"{{if .No}}", "{{end}}", "{{.Nothing}}"} {
		require.Panics(t, func() { _ = Page(&strings.Builder{}, faulty, &value) }, faulty)
	}
}
