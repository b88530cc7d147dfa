package profile

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"time"
)

// Year is the mean year of the Gregorian calendar, and a month is a twelfth of it.
const Year = 365*24*time.Hour + 5*time.Hour + 49*time.Minute + 12*time.Second

const (
	day   = 24 * time.Hour
	week  = 7 * day
	month = Year / 12
)

// Rate says how often something happens on average.
type Rate struct {
	PerSecond float64
	// Counted and Span say that the rate is not stated, but that of so many events in a log of this length.
	Counted int
	Span    time.Duration
}

// In returns the mean number of events in a time.
func (r Rate) In(d time.Duration) float64 { return r.PerSecond * d.Seconds() }

// rateUnits are in order of how long they are. Each may be written out.
var rateUnits = []struct {
	name, long string
	unit       time.Duration
}{
	{"s", "second", time.Second}, {"min", "minute", time.Minute}, {"h", "hour", time.Hour},
	{"day", "day", day}, {"week", "week", week}, {"month", "month", month}, {"year", "year", Year},
}

// String prints the rate by the shortest unit in which it is at least one.
func (r Rate) String() string {
	text := "0"
	for _, u := range rateUnits {
		text = fmt.Sprintf("%.3g/%s", r.In(u.unit), u.name)
		if r.In(u.unit) >= .9995 {
			break
		}
	}
	if r.Counted > 0 {
		text += fmt.Sprintf(" (%d in %s)", r.Counted, brief(float64(r.Span)))
	}
	return text
}

// Refits returns rates that would explain the count too, nil for a rate that was stated: draws from the posterior of a Poisson
// rate under Jeffreys' prior, whose intervals cover as often as they say. They know nothing of events that come in bursts.
func (r Rate) Refits(n int, seed uint64) []Rate {
	if r.Counted == 0 {
		return nil
	}
	random := stream(seed, "rate")
	refits := make([]Rate, n)
	for i := range refits {
		refits[i] = r
		refits[i].PerSecond = gamma(random, float64(r.Counted)+.5) / r.Span.Seconds()
	}
	return refits
}

// stream is a source of random numbers of its own for each use of a seed.
func stream(seed uint64, use string) *rand.Rand {
	mixed := seed ^ 0x9e3779b97f4a7c15
	for _, c := range []byte(use) {
		mixed = (mixed ^ uint64(c)) * 0x100000001b3
	}
	return rand.New(rand.NewPCG(seed, mixed))
}

// gamma draws from the gamma distribution with scale 1, as Marsaglia and Tsang do ("A simple method for generating gamma
// variables", ACM TOMS 26, 2000).
func gamma(random *rand.Rand, shape float64) float64 {
	if shape < 1 {
		return gamma(random, shape+1) * math.Pow(1-random.Float64(), 1/shape)
	}
	d := shape - 1./3
	c := 1 / math.Sqrt(9*d)
	for {
		x := random.NormFloat64()
		v := (1 + c*x) * (1 + c*x) * (1 + c*x)
		if v > 0 && math.Log(1-random.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}

const (
	lengthPattern = `([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h|d|w))+`
	ratePattern   = `^(every ` + lengthPattern + `|[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?/(s|second|min|minute|h|hour|day|week|month|year|` + lengthPattern + `))$`
)

var (
	lengthForm = regexp.MustCompile(`^` + lengthPattern + `$`)
	lengthPart = regexp.MustCompile(`([0-9]+(?:\.[0-9]+)?)(ns|us|µs|ms|s|m|h|d|w)`)
	rateForm   = regexp.MustCompile(ratePattern)
	rateParts  = regexp.MustCompile(`^(.*)/(.*)$`)
)

var lengthUnits = map[string]time.Duration{
	"ns": 1, "us": time.Microsecond, "µs": time.Microsecond, "ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour,
	"d": day, "w": week,
}

// parseLength reads a duration that may have days and weeks.
func parseLength(text string) (time.Duration, string) {
	if !lengthForm.MatchString(text) {
		return 0, quoted(text) + " is no duration"
	}
	sum := 0.0
	for _, part := range lengthPart.FindAllStringSubmatch(text, -1) {
		number, err := strconv.ParseFloat(part[1], 64)
		if err != nil {
			return 0, quoted(text) + " is no duration"
		}
		sum += number * float64(lengthUnits[part[2]])
	}
	if sum > float64(100*Year) {
		return 0, text + " is too long"
	}
	return time.Duration(math.Round(sum)), ""
}

// parseRate reads "2/s", "1000/day", "1/7d" and "every 7d".
func parseRate(text string) (Rate, string) {
	if !rateForm.MatchString(text) {
		return Rate{}, quoted(text) + " is no rate"
	}
	number, unit := "1", ""
	if parts := rateParts.FindStringSubmatch(text); parts != nil {
		number, unit = parts[1], parts[2]
	} else {
		unit = text[len("every "):]
	}
	count, err := strconv.ParseFloat(number, 64)
	if err != nil || count > 1e9 {
		return Rate{}, quoted(text) + " is too much"
	}
	length := time.Duration(0)
	for _, u := range rateUnits {
		if u.name == unit || u.long == unit {
			length = u.unit
		}
	}
	if length == 0 {
		var wrong string
		if length, wrong = parseLength(unit); wrong != "" {
			return Rate{}, wrong
		}
	}
	if length == 0 {
		return Rate{}, quoted(text) + " is more often than can be"
	}
	return Rate{PerSecond: count / length.Seconds()}, ""
}

// quoted shows what a file says, cut to what fits into a message.
func quoted(text string) string {
	const most = 60
	if letters := []rune(text); len(letters) > most {
		text = string(letters[:most]) + "…"
	}
	return strconv.Quote(text)
}
