// Command silent does not speak to a simulation.
package main

func main() {}
