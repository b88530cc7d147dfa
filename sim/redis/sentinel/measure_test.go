package sentinel_test

import (
	"slices"
	"testing"
	"time"

	"github.com/locksim/locksim/sim/redis/sentinel"
)

func TestX(t *testing.T) {
	var redirect, late []time.Duration
	for seed := range uint64(200) {
		d := deploy(t, seed, 1, 45*s, sentinel.Config{})
		d.at(5*s, pause("redis-1"), 12*s)
		a := d.ask("a", d.sentinels[0])
		d.play()
		if len(d.promoted) != 1 || len(a.answers) != 2 || len(d.demoted) != 1 {
			t.Log(seed, d.promoted, a.answers, d.demoted, d.masters(), a.events)
			continue
		}
		redirect = append(redirect, a.answers[1].at-5*s)
		late = append(late, d.demoted[0].at-17*s)
	}
	slices.Sort(redirect)
	slices.Sort(late)
	t.Log(redirect[0], redirect[len(redirect)/2], redirect[len(redirect)-1])
	t.Log(late[0], late[len(late)/2], late[len(late)-1])
}
