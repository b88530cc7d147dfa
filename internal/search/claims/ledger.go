package claims

// Ledger is what campaigns have played: a line for every claim, in the order of the claims.
type Ledger struct {
	Lines []Line
	_     struct{}
}

// Line is what one build has played of one claim: a number of scenarios, drawn by the numbers from the first on.
type Line struct {
	Claim, Lock, Property string
	Runs                  int
	First                 uint64
	Violations            int
	Undecided             int
	Dangers               int
	Vacuous               int
	Build                 string // see [search.Build]
	_                     struct{}
}

// Line returns the line of a claim; nil if there is none.
func (l *Ledger) Line(claim string) *Line {
	for i := range l.Lines {
		if l.Lines[i].Claim == claim {
			return &l.Lines[i]
		}
	}
	return nil
}

// Enter writes down what a build has played: it continues the claim's line, or replaces it.
func (l *Ledger) Enter(t Tally, build string) {
	x := l.Line(t.Claim.Name)
	if x == nil {
		l.Lines = append(l.Lines, Line{})
		x = &l.Lines[len(l.Lines)-1]
	}
	if t.First != x.First+uint64(x.Runs) || build != x.Build {
		*x = Line{First: t.First, Build: build}
	}
	x.Claim, x.Lock, x.Property = t.Claim.Name, t.Claim.Model.Lock, t.Claim.Property.String()
	x.Runs += t.Runs
	x.Violations += t.Violations
	x.Undecided += t.Undecided
	x.Dangers += t.Dangers
	x.Vacuous += t.Vacuous
}

// Arrange puts the lines into the order of the claims, and drops those of claims that there are no longer.
func (l *Ledger) Arrange(claims []Claim) {
	var lines []Line
	for i := range claims {
		if x := l.Line(claims[i].Name); x != nil {
			lines = append(lines, *x)
		}
	}
	l.Lines = lines
}
