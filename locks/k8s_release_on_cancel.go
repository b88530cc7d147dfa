package locks

import (
	"encoding/json"
	"errors"
	"time"
)

// k8sReleaseOnCancel is k8sLease with ReleaseOnCancel: a leader that leaves writes a record without a holder, so that the next one
// need not wait.
//
// It does so, too, when it could not renew within the renew deadline, while its work still goes on: OnStoppedLeading is called
// only afterwards. And it reads the record first, for its version, but does not look at whose it is (tryRelease; since v0.34, or
// earlier): if another has become the leader meanwhile, that one's record is removed, and a third client becomes the leader
// beside it.
func k8sReleaseOnCancel() Algorithm {
	a := k8sLease()
	a.Name, a.Title = "k8s-release-on-cancel", "k8s-lease whose leader removes the record when it leaves, even another's"
	a.Source, a.Status, a.New = a.Source+", ReleaseOnCancel", Mistake, newK8sLease(true)
	a.Lingers = false
	return a
}

// release is tryRelease of leaderelection.go: the record is read for its version, and then written without a holder, if the
// elector was the leader when it last looked.
func (e *elector) release(p Process, limit time.Duration) {
	w := patienceOf(p, limit)
	for !w.over() {
		found, err := e.get(p, w)
		if err != nil || !e.leads() {
			return
		}
		var old leaseRecord
		_ = json.Unmarshal([]byte(found.Value), &old)
		record := e.record(p)
		record.Holder, record.Seconds, record.Transitions = "", 1, old.Transitions
		if !errors.Is(e.write(p, w, record, ObjectWrite{Purpose: "release", IfVersion: e.version}), ErrNotAcquired) {
			return
		}
	}
}
