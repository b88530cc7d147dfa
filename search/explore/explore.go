// Package explore plays every placement of a few faults at every step of a base run, and so can say that there is no
// violation among them.
package explore
