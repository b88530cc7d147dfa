package object

import "math"

// lease is a blob's lease in Azure Blob Storage, which the service ends by its own clock. The zero lease has been held by nobody.
type lease struct {
	id    string
	until int64 // of the server's monotonic clock
}

// forever is the end of a lease that has none.
const forever int64 = math.MaxInt64

// leased reports whether somebody has a lease on the object.
func (s *Server) leased(o *object) bool { return o.lease.id != "" && s.monotonic() < o.lease.until }

// lend carries out an operation on an object's lease (Lease Blob, "Outcomes of lease operations on blobs by lease state"). An expired
// lease can be renewed as long as nobody else has leased or written the object.
func (s *Server) lend(o *object, r *Request) Result {
	switch own := o.lease.id == r.Lease; {
	case r.Op == AcquireLease && s.leased(o) && !own:
		return Leased
	case r.Op != AcquireLease && (!own || r.Lease == ""):
		return LeaseMismatch
	case r.Op == ReleaseLease:
		o.lease = lease{}
	default:
		until := forever
		if r.Life > 0 {
			until = s.monotonic() + r.Life
		}
		o.lease = lease{id: r.Lease, until: until}
	}
	return OK
}

// guard compares the lease that a request shows with the object's ("Outcomes of use attempts on blobs by lease state"). Who writes an
// object whose lease has expired ends that for good.
func (s *Server) guard(o *object, r *Request) Result {
	switch leased := s.leased(o); {
	case r.Lease == "" && (!leased || r.Op == Get):
		return OK
	case r.Lease == "":
		return LeaseMissing
	case o.lease.id == "":
		return LeaseNotPresent
	case r.Lease != o.lease.id:
		return LeaseMismatchBlob
	case !leased:
		return LeaseLost
	}
	return OK
}
