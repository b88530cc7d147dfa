package locks

import "cmp"

// Status says whether a lock can be recommended.
type Status uint8

// The statuses.
const (
	Usable      Status = iota // it keeps its promises, and can be deployed
	Mistake                   // a published faulty lock: it breaks a promise that locks of its kind keep
	Superseded                // outdated: its authors have replaced it, or discourage its use
	Unavailable               // it cannot be deployed outside the company that built it
)

// String returns a list's remark about a lock with the status; "" for a usable one.
func (s Status) String() string {
	return [...]string{"", "published mistake", "superseded", "unavailable"}[s]
}

// Backend returns the name of the servers that the lock lives on, as scenarios have it.
func (a *Algorithm) Backend() string { return cmp.Or(a.Servers, "redis") }

// Line returns the title with the status, for lists.
func (a *Algorithm) Line() string {
	if a.Status == Usable {
		return a.Title
	}
	return a.Title + " [" + a.Status.String() + "]"
}
