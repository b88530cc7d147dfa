package comparison

import "github.com/locksim/locksim/internal/search/compare"

// resource is the property whose violations are damage.
const resource = "resource"

// tone is what something means to a reader. A drawing makes a colour of it, and never says anything by that alone.
type tone string

const (
	plain tone = "plain"
	red   tone = "red"   // damage at the resource
	amber tone = "amber" // a broken promise without damage
	green tone = "green" // in danger, and never violated
	grey  tone = "grey"  // nothing is shown: no danger, no verdict
)

// sign is how an outcome is shown.
type sign struct {
	glyph, ascii string
	word         string
	tone         tone
}

// signOf returns the sign of a cell; that of one which has not been measured if it is nil.
func signOf(c *compare.Cell) sign {
	if c == nil {
		return sign{"", "", "not measured", plain}
	}
	switch c.Outcome {
	case compare.Violated:
		if c.Property == resource {
			return sign{"✗", "x", "damaged", red}
		}
		return sign{"✗", "x", "violated", amber}
	case compare.Held:
		return sign{"✓", "+", "held", green}
	case compare.Seldom:
		return sign{"◐", "~", "seldom exposed", grey}
	case compare.NotSeen:
		return sign{"◌", "^", "not seen", grey}
	case compare.Vacuous:
		return sign{"○", "o", "never exposed", grey}
	case compare.Undecided:
		return sign{"?", "?", "undecided", grey}
	case compare.NotJudged:
		return sign{"·", ".", "not judged", grey}
	case compare.Impossible:
		return sign{"–", "-", "impossible", plain}
	}
	return sign{"?", "?", string(c.Outcome), grey}
}

// shade is how dark a cell is drawn: that of its rate on the ramp, 0 if it is not violated.
func shade(c *compare.Cell) int {
	if c == nil || c.Outcome != compare.Violated {
		return 0
	}
	return step(c.Rate)
}
