// Command dynamolock brings cirello.io/dynamolock, a Go client for locks in DynamoDB, into a simulation.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"cirello.io/dynamolock/v2"
	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/locksim/locksim/guest"
)

func main() {}

func init() { guest.Register(open) }

// table is where the locks are.
const table = "locks"

// forever is how long a client waits that does not say how long; the library has no other way to say it.
const forever = 1000 * time.Hour

// open makes a client of the table with one heartbeat for all locks, in the proportion of the library's defaults: 20 s and 5 s.
func open(c guest.Config) (guest.Mutex, error) {
	transport := awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) { t.DialContext = guest.Dial })
	if c.Timeout > 0 {
		transport = transport.WithTimeout(c.Timeout)
	}
	heartbeat := c.TTL / 4
	if c.Renew > 0 {
		heartbeat = c.Renew
	}
	client, err := dynamolock.New(dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String("http://" + c.Servers[0]), HTTPClient: transport,
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
	}), table, dynamolock.WithLeaseDuration(c.TTL), dynamolock.WithHeartbeatPeriod(heartbeat))
	if err != nil {
		return guest.Mutex{}, err
	}
	var held *dynamolock.Lock
	take := func(ctx context.Context, options ...dynamolock.AcquireLockOption) (guest.Lease, error) {
		danger := make(chan struct{})
		options = append(options, dynamolock.WithSessionMonitor(c.TTL*3/4, func() { close(danger) }))
		if c.Retry.Delay > 0 {
			options = append(options, dynamolock.WithRefreshPeriod(c.Retry.Delay))
		}
		lock, err := client.AcquireLockWithContext(ctx, c.Key, options...)
		var refused *dynamolock.LockNotGrantedError
		switch {
		case errors.As(err, &refused):
			return guest.Lease{}, fmt.Errorf("%w: %w", guest.ErrNotAcquired, err)
		case err != nil:
			return guest.Lease{}, err
		}
		held = lock
		return guest.Lease{Lost: danger}, nil
	}
	return guest.Mutex{
		Lock: func(ctx context.Context) (guest.Lease, error) {
			return take(ctx, dynamolock.WithAdditionalTimeToWaitForLock(forever))
		},
		TryLock: func(ctx context.Context) (guest.Lease, error) { return take(ctx, dynamolock.FailIfLocked()) },
		Unlock:  func(ctx context.Context) error { return release(ctx, client, held) },
		Valid: func(context.Context) error {
			if held.IsExpired() {
				return guest.ErrNotHeld
			}
			return nil
		},
	}, nil
}

// release marks the item as released; the library tells that it was another's only by the error of the service.
func release(ctx context.Context, client *dynamolock.Client, held *dynamolock.Lock) error {
	_, err := client.ReleaseLockWithContext(ctx, held)
	var changed *types.ConditionalCheckFailedException
	if errors.As(err, &changed) {
		return fmt.Errorf("%w: %w", guest.ErrNotHeld, err)
	}
	return err
}
