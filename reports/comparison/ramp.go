package comparison

import (
	"github.com/locksim/locksim/reports/internal/svg"
)

// shadeInk is a shade of a colour, and what is written on it. Contrasts are at least 4.5 to 1.
type shadeInk struct{ wash, words svg.Ink }

func shadeOf(class, light, dark, onLight, onDark string) shadeInk {
	return shadeInk{
		svg.Ink{Class: class, Light: light, Dark: dark}, svg.Ink{Class: "on-" + class, Light: onLight, Dark: onDark},
	}
}

// The ramps run from rare to frequent, in steps that look alike (interpolated in Oklab); in dark surroundings frequent
// is light.
var (
	reds = [...]shadeInk{
		shadeOf("red-1", "#ffeceb", "#33151a", "#4d0510", "#ffe3df"),
		shadeOf("red-2", "#fcc4bf", "#551c21", "#4d0510", "#ffe3df"),
		shadeOf("red-3", "#f59c94", "#7a2028", "#4d0510", "#ffe3df"),
		shadeOf("red-4", "#df645f", "#ad393a", "#4d0510", "#ffe3df"),
		shadeOf("red-5", "#c4162a", "#e2534c", "#ffffff", "#240305"),
		shadeOf("red-6", "#a01023", "#f2847a", "#ffffff", "#240305"),
		shadeOf("red-7", "#7d0a1c", "#ffb0a8", "#ffffff", "#240305"),
	}
	ambers = [...]shadeInk{
		shadeOf("amber-1", "#fff6dd", "#2b2209", "#3a2400", "#fff0cc"),
		shadeOf("amber-2", "#ffe7b1", "#44340b", "#3a2400", "#fff0cc"),
		shadeOf("amber-3", "#ffd780", "#5e470c", "#3a2400", "#fff0cc"),
		shadeOf("amber-4", "#f3bb53", "#836110", "#3a2400", "#fff0cc"),
		shadeOf("amber-5", "#e69f00", "#a97c14", "#3a2400", "#1d1400"),
		shadeOf("amber-6", "#c88700", "#cda344", "#3a2400", "#1d1400"),
		shadeOf("amber-7", "#8f5600", "#f2cc6b", "#ffffff", "#1d1400"),
	}
)

// ramp is the scale of all matrices and heat maps: each shade begins where the one before ends, at about three times
// its beginning.
var ramp = [len(reds)]struct {
	below float64
	text  string
}{
	{0.001, "<0.1"}, {0.003, "<0.3"}, {0.01, "<1"}, {0.03, "<3"}, {0.1, "<10"}, {0.3, "<30"}, {2, "30–100"},
}

// step is the place of a rate on the ramp, from 1 on; 0 of none.
func step(rate float64) int {
	if rate <= 0 {
		return 0
	}
	for i := range ramp {
		if rate < ramp[i].below {
			return i + 1
		}
	}
	return len(ramp)
}

// inkOf returns what a field is drawn in.
func inkOf(k tone, step int) shadeInk {
	switch {
	case k == red && step > 0:
		return reds[step-1]
	case k == amber && step > 0:
		return ambers[step-1]
	case k == green:
		return shadeInk{svg.GreenWash, svg.Green}
	case k == grey:
		return shadeInk{svg.Shade, svg.Quiet}
	}
	return shadeInk{svg.Paper, svg.Quiet}
}
