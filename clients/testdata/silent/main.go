// Command silent does not communicate with a simulation.
package main

func main() {}
