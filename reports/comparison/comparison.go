// Package comparison writes what package compare has measured, as Markdown, HTML, JSON, CSV, JUnit and Go benchmarks.
package comparison
