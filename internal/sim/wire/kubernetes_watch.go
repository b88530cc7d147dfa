package wire

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/sim/object"
)

// look translates a read of one lease.
func look(r *httpRequest) *page {
	if refused := known(r); refused != nil {
		return refused
	}
	if _, err := versionOf(r.url.Query()); err != nil {
		return failure(statusInternal, "", err.Error(), nil)
	}
	return nil
}

// list translates a list or a watch (ListResource in k8s.io/apiserver, pkg/endpoints/handlers/get.go).
func list(o *object.Request, r *httpRequest, namespace string) *page {
	if refused := known(r); refused != nil {
		return refused
	}
	q := r.url.Query()
	seconds, err := strconv.ParseInt(q.Get("timeoutSeconds"), 10, 64)
	if q.Has("timeoutSeconds") && err != nil {
		return failure(statusBadRequest, "BadRequest", err.Error(), nil)
	}
	limit, err := strconv.ParseInt(q.Get("limit"), 10, 32)
	if q.Has("limit") && err != nil {
		return failure(statusBadRequest, "BadRequest", err.Error(), nil)
	}
	if refused := choose(o, namespace, q.Get("fieldSelector")); refused != nil {
		return refused
	}
	version, err := versionOf(q)
	watches := q.Has("watch") && q.Get("watch") != "0" && !strings.EqualFold(q.Get("watch"), "false")
	switch {
	case err != nil && watches:
		return failure(statusInternal, "", err.Error(), nil)
	case err != nil:
		return failure(statusBadRequest, "BadRequest", "invalid resource version: "+err.Error(), nil)
	case watches:
		o.Op, o.Version, o.Lasts = object.Watch, version, time.Duration(min(seconds, math.MaxInt32))*time.Second
	default:
		o.Op, o.Most = object.List, math.MaxInt32
		if limit > 0 && q.Get("resourceVersion") != "0" { // a list from the cache is whole
			o.Most = int(limit)
		}
	}
	return nil
}

// versionOf is the version that a read names; of lists and reads of one lease it changes nothing.
func versionOf(q url.Values) (uint64, error) {
	text := q.Get("resourceVersion")
	if text == "" {
		return 0, nil
	}
	version, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("resourceVersion: Invalid value: %q: %w", text, err)
	}
	return version, nil
}

// choose restricts a list or a watch to the lease that a selector names.
func choose(o *object.Request, namespace, selector string) *page {
	none := false
	for term := range strings.SplitSeq(selector, ",") {
		field, value, is := strings.Cut(term, "=")
		value = strings.TrimPrefix(value, "=")
		switch {
		case term == "":
		case !is:
			return failure(statusBadRequest, "BadRequest", fmt.Sprintf("invalid selector: '%s'; can't understand '%s'", selector, term), nil)
		case strings.HasSuffix(field, "!"):
			return leasesLack("fieldSelector with !=")
		case field == "metadata.name":
			none = none || o.One && o.Name != namespace+"/"+value
			o.Name, o.One = namespace+"/"+value, true
		case field == "metadata.namespace":
			none = none || value != namespace
		default:
			return failure(statusBadRequest, "BadRequest", fmt.Sprintf(
				`"%s" is not a known field selector: only "metadata.name", "metadata.namespace"`, field), nil)
		}
	}
	if none { // no lease has this name
		o.Name, o.One = namespace+"/", true
	}
	return nil
}

// leaseEvent is a line of the answer to a watch.
type leaseEvent struct {
	Type   string `json:"type"`
	Object any    `json:"object"`
}

// leaseEvents is an answer to a watch.
func leaseEvents(a *object.Response) *page {
	p := &page{status: statusOK, kind: jsonKind, stream: furtherPart}
	switch {
	case a.Begins && a.Over:
		p.stream = onlyPart
	case a.Begins:
		p.stream = firstPart
	case a.Over:
		p.stream = lastPart
	}
	for _, c := range a.Changes {
		kind := [...]string{object.Added: "ADDED", object.Modified: "MODIFIED", object.Deleted: "DELETED"}[c.Kind]
		line, _ := json.Marshal(leaseEvent{kind, shownLease(c.Listed, true)}) // of what was read from JSON
		p.body = append(append(p.body, line...), '\n')
	}
	return p
}

// refusedOrOver is an error. A watch of a past that is gone is told so by an event (k8s.io/apiserver, pkg/storage/cacher/cacher.go, Watch).
func refusedOrOver(a *object.Response) *page {
	p := refusal(a.Value, a.Request)
	if a.Request.Op != object.Watch || p.status != statusGone {
		return p
	}
	line, _ := json.Marshal(leaseEvent{"ERROR", json.RawMessage(p.body)})
	return &page{status: statusOK, kind: jsonKind, stream: onlyPart, body: append(line, '\n')}
}
