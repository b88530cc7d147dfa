package comparison

import (
	"fmt"
	"strings"

	"github.com/locksim/locksim/internal/search/compare"
)

// fencingText says what a fencing mode is.
func fencingText(mode string) string {
	switch mode {
	case "none":
		return "The resource accepts every write."
	case "check-then-write":
		return "A gateway compares the token, and writes in a second step."
	case "fenced-write":
		return "The resource compares the token and writes in one step; reads are free."
	case "fenced-read-write":
		return "The resource compares and registers the token on reads, too."
	case "token-equality":
		return "The resource accepts writes only of the holder whose value was registered last."
	case "compare-and-set":
		return "The resource accepts a write if the version that was read is still current; that needs no lock."
	}
	return ""
}

// sentence gives text a full stop.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	if text == "" || strings.ContainsAny(text[len(text)-1:], ".!?") {
		return text
	}
	return text + "."
}

// statement says in words what became of a cell.
func statement(c *compare.Cell) string {
	var text string
	switch c.Outcome {
	case compare.Violated:
		text = fmt.Sprintf("violated in %s of %s: %s %%, interval %s %%", count(c.Violated), plural(c.Runs, "run"),
			rate(c, 3), bounds(c, 3))
	case compare.Held:
		text = fmt.Sprintf("never violated in %s: below %s %%", plural(c.Runs, "run"), percent(c.Most, 3, up))
	case compare.NotSeen:
		text = fmt.Sprintf("not seen violated in %s of a program, of which others may violate it", plural(c.Runs, "run"))
	case compare.Seldom:
		return fmt.Sprintf("not violated in %s, but exposed in %s of them only: too few to say more", plural(c.Runs, "run"),
			count(c.InDanger))
	case compare.Vacuous:
		return fmt.Sprintf("never exposed in %s: nothing is known of it", plural(c.Runs, "run"))
	case compare.Undecided:
		return "in every run something kept the checker from a verdict"
	default:
		return c.Why
	}
	text += fmt.Sprintf("; exposed in %s (%s %%)", count(c.InDanger), risk(c, 3))
	if c.Undecided > 0 {
		text += "; undecided in " + count(c.Undecided)
	}
	return text
}
