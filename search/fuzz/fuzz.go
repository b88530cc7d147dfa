// Package fuzz hunts for violations of a lock: it plays drawn scenarios, as many as it is given time for, and groups
// what it finds by cause.
//
// Call [New] for a [Config], [Hunt.Campaign] with a [Plan], and [Hunt.Findings] with the [Tally] of what it delivers.
// Every run is a function of the configuration and its number alone, so a campaign may be interrupted, split over
// machines and put together again: a [Ledger] notes what was played, stretch by stretch, and [Merge] makes one of many.
// Of runs nothing is kept but counts; what is shown of a finding is played again.
package fuzz
