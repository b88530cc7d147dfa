package cluster_test

import (
	"slices"
	"testing"
	"time"
)

func TestX(t *testing.T) {
	rest := []string{"redis-2", "redis-3", "redis-4", "redis-5", "redis-6"}
	var down, up, dem []time.Duration
	for seed := range uint64(100) {
		w := deploy(t, seed, 1, 60*s, 5*s)
		w.at(7*s, cut([]string{"redis-1"}, rest), 20*s)
		w.probe()
		w.play()
		if len(w.refusals) < 3 || len(w.promoted) != 1 || len(w.demoted) != 1 || seed < 3 {
			t.Log(seed, w.refusals, w.promoted, w.demoted)
			if seed >= 3 {
				continue
			}
		}
		if w.promoted[0].at < w.refusals[1].at { t.Log(seed, "overlap", w.refusals[1].at-w.promoted[0].at) }
		down = append(down, w.refusals[1].at-7*s)
		up = append(up, w.promoted[0].at-7*s)
		dem = append(dem, w.demoted[0].at-27*s)
	}
	for _, x := range [][]time.Duration{down, up, dem} {
		slices.Sort(x)
		t.Log(len(x), x[0], x[len(x)/2], x[len(x)-1])
	}
}
