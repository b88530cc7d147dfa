package wire

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/locksim/locksim/internal/sim/object"
	"github.com/locksim/locksim/sim"
)

// Kubernetes returns a conversation in the Kubernetes API, as far as its leases go (coordination.k8s.io/v1): leases can be read,
// listed and watched, all of a namespace or one by its name, created, replaced and deleted. Each is an object of the store, named NAMESPACE/NAME, whose version is its resourceVersion.
//
// Answers are those of a kube-apiserver 1.37 (TestLeasesAreAnsweredAsByKubeAPIServer in internal/serve), even where that surprises:
// a replacement of a lease that is not there creates it, unless it names the uid of the one that was there.
//
// Left out: patches, deletions of all leases, parts of lists, other selectors, bookmarks and initial events of watches, whose time is not
// limited unless they say so (the API server ends them within an hour), trial runs, generated names, protobuf, managedFields,
// finalizers, owners. Every namespace is there.
func Kubernetes() Conversation { return &web{api: kubernetes{}} }

type kubernetes struct{}

// leasesPath is where the leases are: their namespace follows, and "/leases".
const leasesPath = "/apis/coordination.k8s.io/v1/namespaces/"

// request translates a request for leases.
func (kubernetes) request(r *httpRequest) (sim.Payload, *page) {
	namespace, rest, found := strings.Cut(strings.TrimPrefix(r.url.Path, leasesPath), "/")
	kind, name, one := strings.Cut(rest, "/")
	if !found || !strings.HasPrefix(r.url.Path, leasesPath) || kind != "leases" || namespace == "" || one && name == "" || strings.Contains(name, "/") {
		return nil, failure(statusNotFound, "NotFound", "the server could not find the requested resource", nil)
	}
	o := &object.Request{Name: namespace + "/" + name, Watched: true}
	switch {
	case r.method == "GET" && one:
		return o, look(r)
	case r.method == "GET":
		return o, list(o, r, namespace)
	case !one && r.method == "POST", one && r.method == "PUT", one && r.method == "DELETE":
	default:
		return nil, failure(statusMethodNotAllowed, "MethodNotAllowed", "the server does not allow this method on the requested resource", nil)
	}
	var d document
	if refused := read(r, &d); refused != nil {
		return nil, refused
	}
	if len(d.DryRun) > 0 {
		return nil, leasesLack("dryRun")
	}
	if refused := known(r); refused != nil {
		return nil, refused
	}
	switch r.method {
	case "DELETE":
		remove(o, &d)
		return o, nil
	case "POST":
		return o, create(o, &d, namespace)
	default:
		return o, replace(o, &d, namespace, name)
	}
}

// parameters change nothing of an answer here: all that is read is as new as there is, and unknown fields are left out.
// Lists have further ones, which others have no use for.
var parameters = []string{"allowWatchBookmarks", "fieldManager", "fieldSelector", "fieldValidation", "limit", "pretty", "resourceVersion", "timeout", "timeoutSeconds", "watch"}

// known refuses a request with a parameter that would change what it does.
func known(r *httpRequest) *page {
	q := r.url.Query()
	for _, name := range slices.Sorted(maps.Keys(q)) {
		if !slices.Contains(parameters, name) {
			return leasesLack(name)
		}
	}
	return nil
}

// leasesLack refuses what the API has, and the simulation has not.
func leasesLack(what string) *page {
	return failure(statusNotImplemented, "NotImplemented", "the simulated Kubernetes API has no "+what, nil)
}

// create translates the creation of a lease, whose name is only in its body.
func create(o *object.Request, d *document, namespace string) *page {
	o.Op, o.When = object.Put, object.IfAbsent
	o.Name = namespace + "/" + d.text("name")
	if refused := d.of(namespace); refused != nil {
		return refused
	}
	if refused := d.invalid(); refused != nil {
		return refused
	}
	if version, err := strconv.ParseUint(d.text("resourceVersion"), 10, 64); err == nil && version != 0 {
		return failure(statusInternal, "", "resourceVersion should not be set on objects to be created", nil)
	}
	o.Value = d.stored(namespace)
	return nil
}

// replace translates the replacement of a lease. One that names no uid creates a lease that is not there, whatever version it names
// (AllowCreateOnUpdate in pkg/registry/coordination/lease/strategy.go, and Update in k8s.io/apiserver, pkg/registry/generic/registry/store.go).
func replace(o *object.Request, d *document, namespace, name string) *page {
	switch written := d.text("name"); {
	case written == "":
		return failure(statusBadRequest, "BadRequest", fmt.Sprintf(
			"the name of the object (%s based on URL) was undeterminable: name must be provided", name), nil)
	case written != name:
		return failure(statusBadRequest, "BadRequest", fmt.Sprintf(
			"the name of the object (%s) does not match the name on the URL (%s)", written, name), nil)
	}
	if refused := d.of(namespace); refused != nil {
		return refused
	}
	o.Op, o.When, o.Idle = object.Put, object.IfVersion, true
	o.UID = d.text("uid")
	o.OrAbsent = o.UID == ""
	var err error
	if version := d.text("resourceVersion"); version != "" {
		if o.Version, err = strconv.ParseUint(version, 10, 64); err != nil {
			return failure(statusInternal, "", err.Error(), nil)
		}
	}
	if refused := d.invalid(); refused != nil {
		return refused
	}
	o.Value = d.stored(namespace)
	return nil
}

// remove translates a deletion, whose body are its options.
func remove(o *object.Request, d *document) {
	o.Op = object.Delete
	if d.Preconditions == nil {
		return
	}
	o.UID = d.Preconditions.UID
	if d.Preconditions.ResourceVersion == nil {
		return
	}
	o.When = object.IfVersion
	version, err := strconv.ParseUint(*d.Preconditions.ResourceVersion, 10, 64)
	if o.Version = version; err != nil {
		o.Version = math.MaxUint64 // no lease has it
	}
}

// answer translates an answer.
func (kubernetes) answer(p sim.Payload) (sim.Payload, *page) {
	a := p.(*object.Response)
	r := a.Request
	switch {
	case a.Result == object.NotFound && r.Op == object.Put:
		return r, conflict(r, storageConflict(a))
	case a.Result == object.NotFound:
		return r, failure(statusNotFound, "NotFound", fmt.Sprintf("%s %q not found", resource, nameOf(r)), detailsOf(r))
	case a.Result == object.Failed && r.When == object.IfAbsent:
		return r, failure(statusConflict, "AlreadyExists", fmt.Sprintf("%s %q already exists", resource, nameOf(r)), detailsOf(r))
	case a.Result == object.Failed && r.Op == object.Delete:
		return r, kept(a)
	case a.Result == object.Failed:
		return r, notReplaced(a)
	case a.Result == object.Refused:
		return r, refusedOrOver(a)
	case r.Op == object.Watch:
		return r, leaseEvents(a)
	case r.Op == object.Delete:
		details := detailsOf(r)
		details.UID = a.Made.UID()
		return r, status(statusOK, &statusObject{Status: "Success", Details: details})
	case r.Op == object.List && a.More:
		return r, leasesLack("limit below the length of a list")
	case r.Op == object.List:
		return r, leaseList(a)
	}
	code := statusOK
	if r.Op == object.Put && a.Made.Version == a.Version && r.Version != a.Version { // a replacement by the same lease writes nothing
		code = statusCreated
	}
	shown := object.Listed{Value: cmp.Or(a.Value, r.Value), Version: a.Version, Made: a.Made}
	return r, leasePage(code, shownLease(shown, true))
}

// notReplaced says why a lease was not.
func notReplaced(a *object.Response) *page {
	r := a.Request
	switch {
	case r.UID != "" && r.UID != a.Made.UID():
		return conflict(r, storageConflict(a))
	case r.Version == 0:
		return invalid(resource, detailsOf(r), "metadata.resourceVersion", "FieldValueInvalid", "Invalid value: 0: must be specified for an update")
	default:
		return conflict(r, "the object has been modified; please apply your changes to the latest version and try again")
	}
}

// storageConflict is how etcd's client in the API server says that a lease is another.
func storageConflict(a *object.Response) string {
	return fmt.Sprintf("StorageError: invalid object, Code: 4, Key: /registry/leases/%s, ResourceVersion: 0, "+
		"AdditionalErrorMsg: Precondition failed: UID in precondition: %s, UID in object meta: %s", a.Request.Name, a.Request.UID, a.Made.UID())
}

// kept says why a lease was not deleted.
func kept(a *object.Response) *page {
	r := a.Request
	why := fmt.Sprintf("the ResourceVersion in the precondition (%d) does not match the ResourceVersion in record (%d). The object might have been modified",
		r.Version, a.Found)
	if r.UID != "" && r.UID != a.Made.UID() {
		why = fmt.Sprintf("the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated",
			r.UID, a.Made.UID())
	}
	details := detailsOf(r)
	details.Kind = "Lease"
	return failure(statusConflict, "Conflict", fmt.Sprintf("Operation cannot be fulfilled on %s %q: %s", qualified, nameOf(r), why), details)
}

// leaseList is a list of leases.
func leaseList(a *object.Response) *page {
	list := struct {
		Kind       string            `json:"kind"`
		APIVersion string            `json:"apiVersion"`
		Metadata   map[string]string `json:"metadata"`
		Items      []document        `json:"items"`
	}{"LeaseList", leaseVersion, map[string]string{"resourceVersion": strconv.FormatUint(a.Found, 10)}, []document{}}
	for _, o := range a.All {
		list.Items = append(list.Items, shownLease(o, false))
	}
	return leasePage(statusOK, list)
}

func leasePage(code int, shown any) *page {
	body, _ := json.Marshal(shown) // of what was read from JSON
	return &page{status: code, kind: jsonKind, body: append(body, '\n')}
}

// nameOf is the name of the lease that a request is for.
func nameOf(r *object.Request) string {
	_, name, _ := strings.Cut(r.Name, "/")
	return name
}
