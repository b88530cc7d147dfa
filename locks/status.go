package locks

// Status says whether a lock can be recommended.
type Status uint8

// The statuses.
const (
	Usable      Status = iota // it keeps what it promises, and can be deployed
	Mistake                   // a published mistake: it breaks a promise that locks of its kind keep
	Superseded                // history: its authors have replaced it, or discourage its use
	Unavailable               // it cannot be deployed outside of the company that built it
)

// String returns what a list says of a lock with the status; "" of one that is usable.
func (s Status) String() string {
	return [...]string{"", "published mistake", "superseded", "unavailable"}[s]
}

// Line is the title with the status, as lists show it.
func (a *Algorithm) Line() string {
	if a.Status == Usable {
		return a.Title
	}
	return a.Title + " [" + a.Status.String() + "]"
}
