package comparison

// strong is what headings are printed in.
const strong tone = "strong"

// ink adds the escape sequences of a tone (ECMA-48, Select Graphic Rendition).
func (t *textWriter) ink(k tone, text string) string {
	code := map[tone]string{strong: "1", red: "1;31", amber: "33", green: "32", grey: "2"}[k]
	if !t.Color || code == "" || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
