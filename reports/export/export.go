// Package export writes schedules in the forms of other tools.
package export
