// Package clients builds the programs that bring other people's lock libraries into a simulation. Each is a module of its own
// in a folder below this one.
package clients
