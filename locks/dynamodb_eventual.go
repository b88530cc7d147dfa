package locks

import (
	"encoding/json"
	"errors"
	"fmt"
)

// dynamoDBEventual is dynamoDB with the reads that DynamoDB makes unless it is asked for others: eventually consistent ones, which may
// return what the item was a while ago. AWS's own client asks for consistent ones (ConsistentRead).
//
// A client that waits takes nothing over by such a read alone, since its write has the version as a condition: a stale one is refused, and
// costs time. But an owner that asks before each access whether it still is the owner can be told that it is after another has taken
// the item over. With a consistent read it would have learnt of it, unless that happened between the read and the access.
func dynamoDBEventual() Algorithm {
	a := dynamoDB()
	a.Name = "dynamodb-eventual"
	a.Title = "dynamodb with eventually consistent reads, which may tell an owner that it still is one"
	a.Source = "Amazon DynamoDB Developer Guide, DynamoDB read consistency; GetItem without ConsistentRead"
	a.Status, a.New, a.Reference = Mistake, newDynamoDBEventual, "dynamodb"
	return a
}

type dynamoDBEventualLock struct{ *dynamoDBLock }

func newDynamoDBEventual(o Options) Builder {
	return func(p Process) (Lock, error) {
		l, err := newDynamoDB(o)(p)
		if err != nil {
			return nil, err
		}
		own := l.(*dynamoDBLock)
		own.read = Objects.GetEventually
		return &dynamoDBEventualLock{own}, nil
	}
}

// Verify reads whose the item is.
func (l *dynamoDBEventualLock) Verify(Lease) error {
	found, err := l.read(l.at(l.p), l.options.Timeout, l.options.Key)
	switch {
	case errors.Is(err, ErrNoObject):
		return ErrNotHeld
	case err != nil:
		return err
	}
	var i dynamoDBItem
	if err := json.Unmarshal([]byte(found.Value), &i); err != nil {
		return fmt.Errorf("dynamodb %s: %w", l.options.Key, err)
	}
	if i.Owner != l.p.Owner() {
		return ErrNotHeld
	}
	return nil
}
