// Package guest is what a program imports to be a client inside a simulation: it is compiled for WebAssembly, and its library
// runs there as it is.
package guest
