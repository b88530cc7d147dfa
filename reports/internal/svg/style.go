package svg

import (
	"fmt"
	"slices"
	"strings"
)

// style is how elements look: a picture has few of them, and each is a class of its style sheet.
type style struct {
	fill, stroke Ink
	form         string // what is the same in light and dark surroundings
}

func (p Paint) style() style {
	s := style{fill: p.Fill, stroke: p.Stroke}
	if p.Stroke != (Ink{}) {
		if p.Width != 0 && p.Width != Pixel {
			s.form += ";stroke-width:" + p.Width.String()
		}
		if p.Dash != "" {
			s.form += ";stroke-dasharray:" + p.Dash
		}
	}
	if p.Faint > 0 {
		s.form += fmt.Sprintf(";opacity:0.%02d", p.Faint)
	}
	return s
}

func (f Font) style() style {
	s := Paint{Fill: f.Ink, Stroke: f.Halo, Width: 3 * Pixel}.style()
	if f.Halo != (Ink{}) {
		s.form += ";paint-order:stroke"
	}
	if f.size() != usualSize {
		s.form += ";font-size:" + f.Size.String() + "px"
	}
	if f.Bold {
		s.form += ";font-weight:700"
	}
	if f.Prose {
		s.form += ";font-family:" + proseFonts
	}
	switch f.Anchor {
	case Start:
	case Middle:
		s.form += ";text-anchor:middle"
	case End:
		s.form += ";text-anchor:end"
	}
	return s
}

// class returns the attribute that gives an element a style.
func (c *Canvas) class(s style) string {
	i := slices.Index(c.styles, s)
	if i < 0 {
		i = len(c.styles)
		c.styles = append(c.styles, s)
	}
	return attribute("class", className(i))
}

// className names the style of a number: a, b, …, z, aa, ab, ….
func className(i int) string {
	name := string(rune('a' + i%26))
	if i < 26 {
		return name
	}
	return className(i/26-1) + name
}

// sheetOf is the style sheet of the picture with an id: pictures of one page have the same classes.
func sheetOf(id string, styles []style) string {
	var light, dark strings.Builder
	for i, s := range styles {
		class := "#" + id + " ." + className(i)
		light.WriteString(class + rule(colours(s.fill.Light, s.stroke.Light)+s.form))
		if s.fill != (Ink{}) || s.stroke != (Ink{}) {
			dark.WriteString(class + rule(colours(s.fill.Dark, s.stroke.Dark)))
		}
	}
	return "<style>\n" + light.String() + "@media (prefers-color-scheme:dark){\n" + dark.String() + "}\n</style>\n"
}

// colours are the declarations of colours; the root says that there are none unless there is one.
func colours(fill, stroke string) (declared string) {
	if fill != "" {
		declared += ";fill:" + fill
	}
	if stroke != "" {
		declared += ";stroke:" + stroke
	}
	return declared
}

func rule(declarations string) string { return "{" + strings.TrimPrefix(declarations, ";") + "}\n" }
