// Package fuzz searches for violations of a lock: it plays drawn scenarios, as many as it is given time for, and groups
// what it finds by cause.
//
// Call [New] for a [Config], [Campaign.Run] with a [Plan], and [Campaign.Findings] with the [Tally] of what it delivers.
// [Found.Causes] puts findings together that have one cause, whatever they violate.
// Every run is a function of the configuration and its number alone, so a campaign may be interrupted, split over
// machines and put together again: a [Ledger] notes what was played, stretch by stretch, and [Merge] makes one of many.
// Of runs nothing is kept but counts; what is shown of a finding is played again.
//
// Making findings of hits is bounded by an [Effort], in runs, so that what is found is a function of what was played. A
// context with a deadline bounds it by time as well: what has been found by then is the same, but there may be less of
// it. Either way the most frequent comes first, and what is left is counted.
package fuzz
