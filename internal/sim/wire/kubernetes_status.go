package wire

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/locksim/locksim/internal/sim/object"
)

// The names of leases in Statuses: as a resource, and as a kind.
const (
	jsonKind  = "application/json"
	resource  = "leases.coordination.k8s.io"
	qualified = "Lease.coordination.k8s.io"
)

// statusObject is the API's answer if it has nothing else to show (k8s.io/apimachinery/pkg/apis/meta/v1, Status).
type statusObject struct {
	Kind       string         `json:"kind"`
	APIVersion string         `json:"apiVersion"`
	Metadata   struct{}       `json:"metadata"`
	Status     string         `json:"status"`
	Message    string         `json:"message,omitempty"`
	Reason     string         `json:"reason,omitempty"`
	Details    *statusDetails `json:"details,omitempty"`
	Code       int            `json:"code,omitempty"`
}

type statusDetails struct {
	Name   string        `json:"name,omitempty"`
	Group  string        `json:"group"`
	Kind   string        `json:"kind"`
	UID    string        `json:"uid,omitempty"`
	Causes []statusCause `json:"causes,omitempty"`
}

// statusCause is what is wrong with a field.
type statusCause struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Field   string `json:"field"`
}

func detailsOf(r *object.Request) *statusDetails {
	return &statusDetails{Name: nameOf(r), Group: "coordination.k8s.io", Kind: "leases"}
}

func status(code int, s *statusObject) *page {
	s.Kind, s.APIVersion = "Status", "v1"
	body, _ := json.Marshal(s)
	return &page{status: code, kind: jsonKind, body: append(body, '\n')}
}

// failure is a Status that says why a request was not carried out.
func failure(code int, reason, message string, details *statusDetails) *page {
	return status(code, &statusObject{Status: "Failure", Message: message, Reason: reason, Details: details, Code: code})
}

func conflict(r *object.Request, why string) *page {
	return failure(statusConflict, "Conflict", fmt.Sprintf("Operation cannot be fulfilled on %s %q: %s", resource, nameOf(r), why), detailsOf(r))
}

// invalid says what is wrong with a field of a lease, by what the details call it.
func invalid(kind string, details *statusDetails, field, reason, problem string) *page {
	details.Causes = []statusCause{{reason, problem, field}}
	return failure(statusUnprocessable, "Invalid", fmt.Sprintf("%s %q is invalid: %s: %s", kind, details.Name, field, problem), details)
}

// refusal is an injected error, whose text begins with its status.
func refusal(text string, r *object.Request) *page {
	switch code, _ := strconv.Atoi(text[:min(3, len(text))]); code {
	case statusConflict:
		return conflict(r, "the object has been modified; please apply your changes to the latest version and try again")
	case statusGone:
		return failure(code, "Expired", strings.TrimPrefix(text, "410 "), nil)
	case statusUnavailable:
		return failure(code, "ServiceUnavailable", text, nil)
	default:
		return failure(statusInternal, "InternalError", text, nil)
	}
}
