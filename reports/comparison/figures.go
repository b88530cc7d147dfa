package comparison

import (
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/search/compare"
)

// rounding says what becomes of digits that there is no room for.
type rounding int

const (
	nearest rounding = iota
	down             // for lower bounds
	up               // for upper bounds, so that no interval gets narrower than it is
)

// percent prints a share in percent, with this many significant digits, and without the sign. A share that is not all is
// never printed as 100.
func percent(share float64, digits int, r rounding) string {
	if share <= 0 {
		return "0"
	}
	if share >= 1 {
		return "100"
	}
	text := strconv.FormatFloat(share, 'e', digits-1, 64)
	mantissa, exponent, _ := strings.Cut(text, "e")
	m, _ := strconv.Atoi(strings.Replace(mantissa, ".", "", 1))
	e, _ := strconv.Atoi(exponent)
	power := e - digits + 1 + 2
	printed, _ := strconv.ParseFloat(text, 64)
	switch {
	case r == up && printed < share:
		m++
	case r == down && printed > share, r == nearest && printed >= 1:
		if strings.Trim(mantissa, "0.") == "1" { // the next smaller number has its digits one place further down
			m, power = m*10, power-1
		}
		m--
	}
	return decimal(m, power)
}

// decimal prints m times a power of ten without an exponent.
func decimal(m, power int) string {
	text := strconv.Itoa(m)
	if power >= 0 {
		return text + strings.Repeat("0", power)
	}
	if missing := 1 - power - len(text); missing > 0 {
		text = strings.Repeat("0", missing) + text
	}
	return text[:len(text)+power] + "." + text[len(text)+power:]
}

// six prints a share for other tools, with six digits that count: more than was measured.
func six(share float64) string { return strconv.FormatFloat(share, 'g', 6, 64) }

// rate prints how often a cell is violated; bounds prints where the probability lies.
func rate(c *compare.Cell, digits int) string { return percent(c.Rate, digits, nearest) }

func bounds(c *compare.Cell, digits int) string {
	return percent(c.Least, digits, down) + "–" + percent(c.Most, digits, up)
}

// risk prints how often a cell was in danger.
func risk(c *compare.Cell, digits int) string {
	return percent(share(c.InDanger, c.Runs), digits, nearest)
}

func share(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// count prints a number with a comma between thousands.
func count[N int | int64 | uint64](n N) string {
	text := strconv.FormatUint(uint64(n), 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// thousandths prints a number that is kept in thousandths.
func thousandths(n int64) string {
	text := decimal(int(n), -3)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}

// threeDigits prints a number that is kept in thousandths, with three digits that count.
func threeDigits(n int64) string {
	unit := int64(1)
	for n >= 1000*unit {
		unit *= 10
	}
	n = (n + unit/2) / unit * unit
	if n >= 1_000_000 {
		return count(n / 1000)
	}
	return thousandths(n)
}

// duration prints nanoseconds with three digits that count, in the unit that suits them.
func duration(ns int64) string {
	unit := time.Duration(1)
	for d := time.Duration(ns); d >= 1000*unit; {
		unit *= 10
	}
	text := time.Duration(ns).Round(unit).String()
	i := strings.LastIndexAny(text, "0123456789") + 1
	return text[:i] + " " + text[i:]
}

// plural prints a number of things.
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return count(n) + " " + what + "s"
}
