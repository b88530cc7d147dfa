package locks

import "strings"

// serverErrors is what went wrong at several servers. Unlike errors.Join it prints one line.
type serverErrors []error

// Error returns all texts.
func (e serverErrors) Error() string {
	texts := make([]string, len(e))
	for i, err := range e {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

// Unwrap returns the errors.
func (e serverErrors) Unwrap() []error { return e }
