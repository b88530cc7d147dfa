// Package svg draws schedules of package reports as static SVG: one picture that stands for itself, without a script,
// a font or an image from elsewhere. [Write] draws a schedule. [Canvas] is what it draws on, for callers that draw other pictures.
package svg
