// Package measure plays a fixed number of scenarios and says how often a property was violated, with an exact interval.
package measure
