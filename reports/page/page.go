// Package page makes of schedules one HTML file that needs no network.
package page
