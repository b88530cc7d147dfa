// Command plain knows nothing of simulations.
package main

func main() { println("hello") }
