package checker

import "github.com/anishathalye/porcupine"

// exclusive asks porcupine whether the intervals can be those of one lock: to acquire is an operation, from the call
// of Lock until the belief began; the end of a belief is a point. Intervals in porcupine are closed, so a belief may
// begin at the moment another ends. A belief that never ended has its end after everything else: no operation is left
// open, since open ones are what makes the search explode.
func exclusive(list []interval, r *room) bool {
	operations := sized(&r.operations, 2*len(list))[:0]
	for i := range list {
		v := &list[i]
		operations = append(operations, porcupine.Operation{
			ClientId: i, Input: 2 * i, Call: int64(v.asked), Return: int64(v.from),
		})
		operations = append(operations, porcupine.Operation{
			ClientId: i, Input: 2*i + 1, Call: int64(v.to), Return: int64(v.to),
		})
	}
	return porcupine.CheckOperations(porcupine.Model{Init: nobody, Step: stepLock}, operations)
}

// The lock's state is 0 when it is free, i+1 when interval i holds it. The input is 2i for interval i's beginning
// and 2i+1 for its end: small numbers, which Go puts into an interface without allocating.
func nobody() any { return 0 }

func stepLock(state, input, _ any) (bool, any) {
	holder, holding := state.(int), input.(int)/2+1
	if input.(int)%2 == 0 {
		return holder == 0, holding
	}
	return holder == holding, 0
}
