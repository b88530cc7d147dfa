// Package svg draws schedules of package reports as static SVG.
package svg
