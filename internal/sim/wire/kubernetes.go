package wire

import (
	"cmp"
	"encoding/json"
	"fmt"
	"mime"
	"strconv"
	"strings"

	"github.com/locksim/locksim/internal/sim/object"
	"github.com/locksim/locksim/sim"
)

// Kubernetes returns a conversation in the Kubernetes API, as far as its leases go (coordination.k8s.io/v1): a lease can be read,
// created, replaced and deleted. Each is an object of the store, named NAMESPACE/NAME, whose version is its resourceVersion.
//
// Left out: lists, watches, patches, protobuf; what the API server adds to metadata but for the resourceVersion (uid,
// creationTimestamp, managedFields); that a replacement by the same lease is no write.
func Kubernetes() Conversation { return &web{api: kubernetes{}} }

type kubernetes struct{}

// leasesPath is where the leases are: their namespace follows, and "/leases".
const leasesPath = "/apis/coordination.k8s.io/v1/namespaces/"

// Lease is a lease of Kubernetes, as far as a lock can be understood by it.
type Lease struct {
	Holder  string `json:"holderIdentity"`
	Seconds *int32 `json:"leaseDurationSeconds"`
}

// LeaseIn reads the lease that is the value of an object.
func LeaseIn(value string) (l Lease) {
	var d document
	_ = json.Unmarshal([]byte(value), &d) // what cannot be read was refused
	_ = json.Unmarshal(d.Spec, &l)
	return l
}

// document is a lease as it is sent, or the options of a deletion. What it does not name is kept as it is.
type document struct {
	Kind       string                     `json:"kind,omitempty"`
	APIVersion string                     `json:"apiVersion,omitempty"`
	Metadata   map[string]json.RawMessage `json:"metadata,omitempty"`
	Spec       json.RawMessage            `json:"spec,omitempty"`

	Preconditions *struct{ ResourceVersion *string } `json:"preconditions,omitempty"`
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

// request translates a request for a lease.
func (kubernetes) request(r *httpRequest) (sim.Payload, *page) {
	namespace, rest, found := strings.Cut(strings.TrimPrefix(r.url.Path, leasesPath), "/")
	kind, name, one := strings.Cut(rest, "/")
	if !found || !strings.HasPrefix(r.url.Path, leasesPath) || kind != "leases" || namespace == "" || one && name == "" || strings.Contains(name, "/") {
		return nil, failure(statusNotFound, "NotFound", "the server could not find the requested resource", nil)
	}
	o := &object.Request{Name: namespace + "/" + name}
	switch {
	case one && r.method == "GET":
		return o, nil
	case !one && r.method == "POST", one && r.method == "PUT", one && r.method == "DELETE":
	default:
		return nil, failure(statusMethodNotAllowed, "MethodNotAllowed", "the server does not allow this method on the requested resource", nil)
	}
	var d document
	if refused := read(r, &d); refused != nil {
		return nil, refused
	}
	if r.method != "DELETE" {
		return o, put(o, &d, namespace, name)
	}
	o.Op = object.Delete
	if d.Preconditions == nil || d.Preconditions.ResourceVersion == nil {
		return o, nil
	}
	return o, onVersion(o, *d.Preconditions.ResourceVersion)
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
	return nil
}

// put translates the creation of a lease, whose name is only in its body, or its replacement.
func put(o *object.Request, d *document, namespace, name string) *page {
	o.Op = object.Put
	written, version := d.text("name"), d.text("resourceVersion")
	var lease Lease
	if err := json.Unmarshal(d.Spec, &lease); err != nil && d.Spec != nil {
		return failure(statusBadRequest, "BadRequest", "spec: "+err.Error(), nil)
	}
	switch {
	case d.text("namespace") != "" && d.text("namespace") != namespace:
		return failure(statusBadRequest, "BadRequest",
			"the namespace of the provided object does not match the namespace sent on the request", nil)
	case name != "" && written != name:
		return failure(statusBadRequest, "BadRequest", fmt.Sprintf(
			"the name of the object (%s) does not match the name on the URL (%s)", written, name), nil)
	case written == "":
		return invalid(o, "metadata.name: Required value: name or generateName is required")
	case lease.Seconds != nil && *lease.Seconds <= 0:
		return invalid(o, fmt.Sprintf("spec.leaseDurationSeconds: Invalid value: %d: must be greater than 0", *lease.Seconds))
	case name != "" && version == "":
		return invalid(o, "metadata.resourceVersion: Invalid value: 0: must be specified for an update")
	}
	o.When, o.Name = object.IfAbsent, namespace+"/"+written
	if name != "" {
		if refused := onVersion(o, version); refused != nil {
			return refused
		}
	}
	o.Value = stored(d, namespace)
	return nil
}

// stored is a lease as it is kept: without a version, which its object has.
func stored(d *document, namespace string) string {
	delete(d.Metadata, "resourceVersion")
	d.set("namespace", namespace)
	d.Kind, d.APIVersion = "Lease", "coordination.k8s.io/v1"
	value, _ := json.Marshal(d) // of what was read from JSON
	return string(value)
}

// onVersion has a request carried out if the object has a version.
func onVersion(o *object.Request, version string) *page {
	number, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return invalid(o, fmt.Sprintf("metadata.resourceVersion: Invalid value: %q: %v", version, err))
	}
	o.When, o.Version = object.IfVersion, number
	return nil
}

// answer translates an answer.
func (kubernetes) answer(p sim.Payload) (sim.Payload, *page) {
	a := p.(*object.Response)
	r := a.Request
	switch {
	case a.Result == object.NotFound:
		return r, failure(statusNotFound, "NotFound", fmt.Sprintf("%s %q not found", resource, nameOf(r)), r)
	case a.Result == object.Failed && r.When == object.IfAbsent:
		return r, failure(statusConflict, "AlreadyExists", fmt.Sprintf("%s %q already exists", resource, nameOf(r)), r)
	case a.Result == object.Failed:
		return r, conflict(r)
	case a.Result == object.Refused:
		return r, refusal(a.Value, r)
	case r.Op == object.Delete:
		return r, status(statusOK, &statusObject{Status: "Success", Details: detailsOf(r)})
	}
	var d document
	_ = json.Unmarshal([]byte(cmp.Or(a.Value, r.Value)), &d) // as it was stored
	d.set("resourceVersion", strconv.FormatUint(a.Version, 10))
	body, _ := json.Marshal(&d)
	code := statusOK
	if r.When == object.IfAbsent {
		code = statusCreated
	}
	return r, &page{status: code, kind: jsonKind, body: append(body, '\n')}
}

const (
	jsonKind = "application/json"
	resource = "leases.coordination.k8s.io"
)

// nameOf is the name of the lease that a request is for.
func nameOf(r *object.Request) string {
	_, name, _ := strings.Cut(r.Name, "/")
	return name
}

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
	Name  string `json:"name,omitempty"`
	Group string `json:"group"`
	Kind  string `json:"kind"`
}

func detailsOf(r *object.Request) *statusDetails {
	if r == nil {
		return nil
	}
	return &statusDetails{Name: nameOf(r), Group: "coordination.k8s.io", Kind: "leases"}
}

func status(code int, s *statusObject) *page {
	s.Kind, s.APIVersion = "Status", "v1"
	body, _ := json.Marshal(s)
	return &page{status: code, kind: jsonKind, body: append(body, '\n')}
}

// failure is a Status that says why a request was not carried out; without one, nothing is said of a lease.
func failure(code int, reason, message string, r *object.Request) *page {
	return status(code, &statusObject{Status: "Failure", Message: message, Reason: reason, Details: detailsOf(r), Code: code})
}

func conflict(r *object.Request) *page {
	return failure(statusConflict, "Conflict", fmt.Sprintf(
		"Operation cannot be fulfilled on %s %q: the object has been modified; please apply your changes to the latest version and try again",
		resource, nameOf(r)), r)
}

func invalid(o *object.Request, problem string) *page {
	return failure(statusUnprocessable, "Invalid", fmt.Sprintf("Lease.coordination.k8s.io %q is invalid: %s", nameOf(o), problem), o)
}

// refusal is an injected error, whose text begins with its status.
func refusal(text string, r *object.Request) *page {
	number, _, _ := strings.Cut(text, " ")
	switch code, _ := strconv.Atoi(number); code {
	case statusConflict:
		return conflict(r)
	case statusUnavailable:
		return failure(code, "ServiceUnavailable", text, nil)
	default:
		return failure(statusInternal, "InternalError", text, nil)
	}
}
