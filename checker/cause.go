package checker

// Condition is something about a run that may be why it violates a property.
type Condition uint8

// The conditions.
const (
	PausedHolder    Condition = iota // a holder is paused at the moment of the violation
	IgnoredNotice                    // a holder does not listen to notices of loss
	IgnoredDeadline                  // a holder does not look at the deadline of its lease
	WeakFencing                      // the resource does not compare enough
	LateRenewal                      // a holder renews its lease too late
	ForgottenToken                   // a holder accesses the resource without its fencing token
	PassedToken                      // a holder leaves its writes to a job that outlives the critical section
)

// Cause is a condition without which a run does not violate a property. That is found out by playing the run without the
// condition, which this package does not do.
type Cause struct {
	Property  Property
	Condition Condition
	Client    string // whose condition it is; "" of the resource's
}
