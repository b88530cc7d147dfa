package parameter

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/scenarios"
)

// Variation is a field of a scenario, and the values that it takes.
type Variation struct {
	Path   string
	Values []string // as a file would have them
}

// MostValues is how many values a variation may have.
const MostValues = 100

// usualSteps is how many steps a range has that does not say it: 4s..16s goes up by 2s.
const usualSteps = 6

// ParseVariation reads a path and its values: "lock.ttl=4s,8s,16s". An entry of the list may be a range of times, whole numbers or
// rates, "4s..16s", in six steps unless it says in how many: "4s..16s/3".
func ParseVariation(text string) (Variation, error) {
	c, ok := scenarios.ParseChange(text)
	if !ok {
		return Variation{}, fmt.Errorf("want a path and values, such as lock.ttl=4s,8s or lock.ttl=4s..16s")
	}
	v := Variation{Path: c.Path}
	for _, entry := range entries(c.Value) {
		values, err := ranged(entry)
		if err != nil {
			return v, err
		}
		for _, value := range values {
			same := slices.IndexFunc(v.Values, func(other string) bool { return other == value || equal(other, value) })
			switch {
			case value == "":
				return v, fmt.Errorf("a value is missing; want values, such as 4s,8s or 4s..16s")
			case same >= 0 && v.Values[same] != value:
				return v, fmt.Errorf("%s is %s, which is there already", value, v.Values[same])
			case same >= 0:
				return v, fmt.Errorf("%s is listed twice", value)
			case len(v.Values) == MostValues:
				return v, fmt.Errorf("more than %d values; want fewer", MostValues)
			}
			v.Values = append(v.Values, value)
		}
	}
	return v, nil
}

// entries splits a list at the commas that are not within brackets or quotes.
func entries(text string) []string {
	var list []string
	depth, quote, from := 0, rune(0), 0
	for i, letter := range text {
		switch {
		case quote != 0:
			if letter == quote {
				quote = 0
			}
		case letter == '"' || letter == '\'':
			quote = letter
		case letter == '[' || letter == '{':
			depth++
		case letter == ']' || letter == '}':
			depth--
		case letter == ',' && depth == 0:
			list = append(list, strings.TrimSpace(text[from:i]))
			from = i + 1
		}
	}
	return append(list, strings.TrimSpace(text[from:]))
}

// ranged returns the values of a range, or the one value that is none.
func ranged(text string) ([]string, error) {
	first, rest, ok := strings.Cut(text, "..")
	last, count, counted := strings.Cut(rest, "/")
	from, unit, number := scaled(first)
	to, same, also := scaled(last)
	if !ok || !number && !also {
		return []string{text}, nil
	}
	steps, err := strconv.Atoi(count)
	switch {
	case !number || !also || unit != same:
		return nil, fmt.Errorf("%q is no range; want two times, whole numbers or rates, such as 4s..16s", text)
	case from >= to:
		return nil, fmt.Errorf("%q is no range; want the smaller one first", text)
	case counted && (err != nil || steps < 1 || steps >= MostValues):
		return nil, fmt.Errorf("%q is no range; want 1 to %d steps, such as 4s..16s/6", text, MostValues-1)
	case !counted:
		steps = usualSteps
	}
	steps = int(min(int64(steps), to-from))
	round := int64(1)
	for unit == aTime && round <= (to-from)/int64(steps)/1000 {
		round *= 10
	}
	var values []string
	for i := range int64(steps) {
		value := from + (to-from)/int64(steps)*i + (to-from)%int64(steps)*i/int64(steps)
		if i > 0 {
			value -= value % round
		}
		values = append(values, written(value, unit))
	}
	return append(values, written(to, unit)), nil
}

// The units of what ranges count.
const (
	aTime   = "ns"
	aNumber = ""
	aShare  = "%"
	aRate   = "ppm"
)

// mostScaled bounds the ends of a range, far above what any field allows.
const mostScaled = int64(math.MaxInt64 / 4)

func moderate(n int64) bool { return -mostScaled <= n && n <= mostScaled }

var percentage = regexp.MustCompile(`^(-?)([0-9]{1,7})(?:\.([0-9]{1,4}))?%$`)

// scaled returns a time in nanoseconds, a share in millionths, a rate or a whole number.
func scaled(text string) (value int64, unit string, ok bool) {
	if d, err := time.ParseDuration(text); err == nil && strings.ContainsAny(text, "nuµmsh") {
		return int64(d), aTime, moderate(int64(d))
	}
	if parts := percentage.FindStringSubmatch(text); parts != nil {
		digits := parts[3] + strings.Repeat("0", 4-len(parts[3]))
		n, err := strconv.ParseInt(parts[1]+parts[2]+digits, 10, 64)
		return n, aShare, err == nil
	}
	digits, rate := strings.CutSuffix(text, aRate)
	n, err := strconv.ParseInt(digits, 10, 64)
	if rate {
		unit = aRate
	}
	return n, unit, err == nil && moderate(n)
}

// equal reports whether two times, numbers or rates are the same one.
func equal(a, b string) bool {
	value, unit, ok := scaled(a)
	other, same, also := scaled(b)
	return ok && also && value == other && (unit == same || value == 0)
}

// Ordered reports whether values are times, numbers or rates that only rise, or only fall.
func Ordered(values []string) bool {
	rising, falling := true, true
	for i := 1; i < len(values); i++ {
		last, unit, ok := scaled(values[i-1])
		next, same, also := scaled(values[i])
		if !ok || !also || unit != same && last != 0 && next != 0 {
			return false
		}
		rising, falling = rising && last < next, falling && last > next
	}
	return len(values) > 1 && (rising || falling)
}

// written is the inverse of scaled.
func written(value int64, unit string) string {
	switch unit {
	case aTime:
		return scenarios.Brief(time.Duration(value))
	case aShare:
		sign := ""
		if value < 0 {
			sign, value = "-", -value
		}
		text := strings.TrimRight(fmt.Sprintf("%s%d.%04d", sign, value/10_000, value%10_000), "0")
		return strings.TrimSuffix(text, ".") + aShare
	}
	return strconv.FormatInt(value, 10) + unit
}
