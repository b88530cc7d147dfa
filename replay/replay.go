// Package replay plays a scenario on real servers, with real client processes and staged faults, and has the history judged by
// the checker that judges simulations.
package replay
