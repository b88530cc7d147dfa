package locks

import "time"

// until tries until it succeeds, the tries are used up, or the wait is over. No try begins later than wait after the
// call, on the monotonic clock: so Try is the wait in which there is room for one try only. An error of a server is a
// failed try like any other, since servers recover and Forever must not give up; the last try's error is returned.
func (r Retry) until(p Process, wait time.Duration, try func() (Lease, error)) (Lease, error) {
	w := patienceOf(p, wait)
	for n := 1; ; n++ {
		lease, err := try()
		if err == nil {
			return lease, nil
		}
		if w.over() || n == r.Tries {
			return Lease{}, err
		}
		p.Sleep(min(r.delay(p), w.left()))
	}
}

func (r Retry) delay(p Process) time.Duration {
	if r.Jitter == 0 {
		return r.Delay
	}
	return r.Delay + time.Duration(p.Uniform(int64(r.Jitter)+1))
}
