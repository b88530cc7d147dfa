package wire

import (
	"encoding/json"
	"fmt"
	"mime"
	"regexp"
	"strconv"
	"time"

	"github.com/locksim/locksim/internal/sim/object"
)

// Lease is a lease of Kubernetes, as far as a lock can be understood by it.
type Lease struct {
	Holder  string `json:"holderIdentity"`
	Seconds *int32 `json:"leaseDurationSeconds"`
}

// LeaseIn reads the lease that is the value of an object.
func LeaseIn(value string) (l Lease) {
	var d struct{ Spec Lease }
	_ = json.Unmarshal([]byte(value), &d) // what cannot be read was refused
	return d.Spec
}

// leaseVersion is the version of the API.
const leaseVersion = "coordination.k8s.io/v1"

// document is a lease as it is sent, or the options of a deletion. Of its metadata, what it does not name is kept as it is.
type document struct {
	Kind       string                     `json:"kind,omitempty"`
	APIVersion string                     `json:"apiVersion,omitempty"`
	Metadata   map[string]json.RawMessage `json:"metadata,omitempty"`
	Spec       *leaseSpec                 `json:"spec,omitempty"`

	Preconditions *struct {
		UID             string
		ResourceVersion *string
	} `json:"preconditions,omitempty"`
	DryRun []string `json:"dryRun,omitempty"`
}

// leaseSpec is what a lease says (LeaseSpec in k8s.io/api/coordination/v1), but for the strategies of coordinated elections, which
// the API server forgets unless a feature gate is open.
type leaseSpec struct {
	HolderIdentity       *string    `json:"holderIdentity,omitempty"`
	LeaseDurationSeconds *int32     `json:"leaseDurationSeconds,omitempty"`
	AcquireTime          *microTime `json:"acquireTime,omitempty"`
	RenewTime            *microTime `json:"renewTime,omitempty"`
	LeaseTransitions     *int32     `json:"leaseTransitions,omitempty"`
}

// microTime is a time as Kubernetes writes it, in six decimals.
type microTime struct{ time.Time }

// rfc3339Micro is its layout.
const rfc3339Micro = "2006-01-02T15:04:05.000000Z07:00"

// UnmarshalJSON reads a time, in any zone.
func (m *microTime) UnmarshalJSON(text []byte) error {
	var s string
	err := json.Unmarshal(text, &s)
	if err != nil {
		return err
	}
	m.Time, err = time.Parse(rfc3339Micro, s)
	return err
}

// MarshalJSON writes it in that of the API server.
func (m microTime) MarshalJSON() ([]byte, error) {
	return []byte(m.UTC().Format(`"` + rfc3339Micro + `"`)), nil
}

// text returns a field of the metadata that is a string.
func (d *document) text(field string) (text string) {
	_ = json.Unmarshal(d.Metadata[field], &text)
	return text
}

// set sets such a field.
func (d *document) set(field, text string) {
	if d.Metadata == nil {
		d.Metadata = map[string]json.RawMessage{}
	}
	d.Metadata[field], _ = json.Marshal(text)
}

// read reads the body of a request.
func read(r *httpRequest, d *document) *page {
	kind, _, _ := mime.ParseMediaType(r.header.Get("Content-Type"))
	switch {
	case len(r.body) == 0 && r.method == "DELETE":
		return nil
	case kind != "" && kind != jsonKind:
		return failure(statusUnsupportedMediaType, "UnsupportedMediaType", fmt.Sprintf(
			"the body of the request was in an unknown format - accepted media types include: %s (here no other: "+
				"set ContentType of client-go's rest.Config)", jsonKind), nil)
	}
	if err := json.Unmarshal(r.body, d); err != nil {
		return failure(statusBadRequest, "BadRequest", "the object provided is unrecognized (must be of type Lease): "+err.Error(), nil)
	}
	if r.method != "DELETE" && (d.Kind != "" && d.Kind != "Lease" || d.APIVersion != "" && d.APIVersion != leaseVersion) {
		return failure(statusBadRequest, "BadRequest", fmt.Sprintf("%s in version %q cannot be handled as a Lease", d.Kind, d.APIVersion), nil)
	}
	if d.Metadata["finalizers"] != nil && string(d.Metadata["finalizers"]) != "null" && string(d.Metadata["finalizers"]) != "[]" {
		return leasesLack("finalizers")
	}
	return nil
}

// of refuses a lease of another namespace than its path has.
func (d *document) of(namespace string) *page {
	if written := d.text("namespace"); written != "" && written != namespace {
		return failure(statusBadRequest, "BadRequest", "the namespace of the provided object does not match the namespace sent on the request", nil)
	}
	return nil
}

// subdomain is what the name of a lease must be (IsDNS1123Subdomain in k8s.io/apimachinery, pkg/util/validation).
var subdomain = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)

const mostName = 253 // characters

// invalid refuses a lease that must not be stored. The first mistake is told.
func (d *document) invalid() *page {
	name := d.text("name")
	details := &statusDetails{Name: name, Group: "coordination.k8s.io", Kind: "Lease"}
	is := func(field, problem string) *page {
		return invalid(qualified, details, field, "FieldValueInvalid", problem)
	}
	switch spec := d.Spec; {
	case name == "":
		return invalid(qualified, details, "metadata.name", "FieldValueRequired", "Required value: name or generateName is required")
	case len(name) > mostName:
		return is("metadata.name", fmt.Sprintf("Invalid value: %q: must be no more than %d characters", name, mostName))
	case !subdomain.MatchString(name):
		return is("metadata.name", fmt.Sprintf("Invalid value: %q: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' "+
			"or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '%s')",
			name, subdomain.String()[1:len(subdomain.String())-1]))
	case spec == nil:
		return nil
	case spec.LeaseDurationSeconds != nil && *spec.LeaseDurationSeconds <= 0:
		return is("spec.leaseDurationSeconds", fmt.Sprintf("Invalid value: %d: must be greater than 0", *spec.LeaseDurationSeconds))
	case spec.LeaseTransitions != nil && *spec.LeaseTransitions < 0:
		return is("spec.leaseTransitions", fmt.Sprintf("Invalid value: %d: must be greater than or equal to 0", *spec.LeaseTransitions))
	default:
		return nil
	}
}

// ofTheServer are the fields of the metadata that the API server sets, whatever is sent.
var ofTheServer = []string{"resourceVersion", "uid", "creationTimestamp", "managedFields", "selfLink", "generation", "generateName"}

// stored is a lease as it is kept: without what its object has.
func (d *document) stored(namespace string) string {
	for _, field := range ofTheServer {
		delete(d.Metadata, field)
	}
	d.set("namespace", namespace)
	if d.Spec == nil {
		d.Spec = &leaseSpec{}
	}
	d.Kind, d.APIVersion = "Lease", leaseVersion
	value, _ := json.Marshal(d) // of what was read from JSON
	return string(value)
}

// shownLease is a lease as it is shown, by itself or in a list.
func shownLease(o object.Listed, itself bool) (d document) {
	_ = json.Unmarshal([]byte(o.Value), &d) // as it was stored
	d.set("resourceVersion", strconv.FormatUint(o.Version, 10))
	d.set("uid", o.Made.UID())
	d.set("creationTimestamp", time.Unix(0, o.Made.At).UTC().Format(time.RFC3339))
	if !itself {
		d.Kind, d.APIVersion = "", ""
	}
	return d
}
