package history

import "slices"

var (
	styleNames   = []string{"careless", "attentive", "careful"}
	fencingNames = []string{
		"none", "check-then-write", "fenced-write", "fenced-read-write", "token-equality", "compare-and-set",
	}
	outcomeNames = []string{"pending", "ok", "failed", "unknown", "refused"}
	causeNames   = []string{"open", "unlock", "crash", "notice", "deadline", "session-loss", "unseen"}
	goneNames    = []string{"kept", "deleted", "overwritten", "expired", "wiped", "evicted"}
	opNames      = []string{"read", "check", "write"}
	waitEndNames = []string{"waiting", "got-it", "gave-up", "died"}
)

// String returns the name that scenarios use.
func (s Style) String() string { return styleNames[s] }

// String returns the name that scenarios use.
func (f Fencing) String() string { return fencingNames[f] }

// String returns the outcome's name.
func (o Outcome) String() string { return outcomeNames[o] }

// String returns the cause's name.
func (c Cause) String() string { return causeNames[c] }

// String returns the name of the way.
func (g Gone) String() string { return goneNames[g] }

// String returns the name that scenarios use.
func (o Op) String() string { return opNames[o] }

// String returns the name of the way.
func (w WaitEnd) String() string { return waitEndNames[w] }

// StyleNames lists the styles, from the least to the most cautious.
func StyleNames() []string { return slices.Clone(styleNames) }

// FencingNames lists the fencing modes.
func FencingNames() []string { return slices.Clone(fencingNames) }

// ParseStyle is the inverse of Style.String.
func ParseStyle(name string) (Style, bool) {
	i := slices.Index(styleNames, name)
	return Style(max(i, 0)), i >= 0
}

// ParseFencing is the inverse of Fencing.String.
func ParseFencing(name string) (Fencing, bool) {
	i := slices.Index(fencingNames, name)
	return Fencing(max(i, 0)), i >= 0
}

// NeedsToken reports whether the mode has nothing to compare without a fencing token.
func (f Fencing) NeedsToken() bool {
	return f == CheckThenWrite || f == FencedWrite || f == FencedReadWrite
}
