// Package export writes schedules as [Mermaid], which Markdown renders as diagrams.
package export
