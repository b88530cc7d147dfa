// Package export writes schedules in the forms of other tools: [Mermaid] for a diagram that Markdown renders, [Chrome]
// for viewers of trace events, such as Perfetto. Both are functions of the schedule.
package export
