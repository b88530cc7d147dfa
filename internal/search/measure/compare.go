package measure

import "fmt"

// Comparison is what two cells say of the schedules on which both were played, and of which both say something.
type Comparison struct {
	Pairs    int // schedules
	OnlyThis int // of them, those on which only this cell's property was violated
	OnlyThat int // those on which only the other's was
	Both     int // those on which both were
	_        struct{}
}

// P is how likely so large a difference is by chance if neither is violated more easily: that of McNemar's exact test.
func (c *Comparison) P() float64 { return signTest(c.OnlyThis, c.OnlyThat) }

// Difference is by how much more often this cell's property was violated than the other's, as a share of the schedules.
func (c *Comparison) Difference() float64 {
	return share(c.OnlyThis, c.Pairs) - share(c.OnlyThat, c.Pairs)
}

// Compare compares two cells schedule by schedule. The error says that they were not played on the same ones.
func (t *Table) Compare(this, that int) (Comparison, error) {
	a, b := &t.Cells[this], &t.Cells[that]
	if a.Schedules != b.Schedules {
		return Comparison{}, fmt.Errorf("%s and %s were not played on the same schedules", a.Lock, b.Lock)
	}
	c := Comparison{Pairs: min(a.Runs, b.Runs)}
	unknown := draws{} // to one of them
	unknown.add(&a.undecided, 0)
	unknown.add(&b.undecided, 0)
	for k := range unknown.all() {
		if k < min(a.Runs, b.Runs) {
			c.Pairs--
		}
	}
	for k := range a.violated.all() {
		switch {
		case k >= b.Runs || unknown.has(k):
		case b.violated.has(k):
			c.Both++
		default:
			c.OnlyThis++
		}
	}
	for k := range b.violated.all() {
		if k < a.Runs && !unknown.has(k) && !a.violated.has(k) {
			c.OnlyThat++
		}
	}
	return c, nil
}
