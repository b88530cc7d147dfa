// Command aws-sdk-s3 brings a lock file on S3 into a simulation, by AWS's SDK for Go, which has conditional writes but no lock. The lock is
// that of Terraform's S3 backend with use_lockfile, whose packages are internal (internal/backend/remote-state/s3/client.go).
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"github.com/locksim/locksim/guest"
)

func main() {}

func init() { guest.Register(open) }

// bucket is where the lock files are.
const bucket = "locks"

// open makes a client whose lock is asked for again after the delays of Terraform's statemgr.LockWithContext, unless the scenario has another first one.
func open(c guest.Config) (guest.Mutex, error) {
	transport := awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) { t.DialContext = guest.Dial })
	if c.Timeout > 0 {
		transport = transport.WithTimeout(c.Timeout)
	}
	l := &lockFile{key: aws.String(c.Key), delay: time.Second, store: s3.New(s3.Options{
		Region: "us-east-1", BaseEndpoint: aws.String("http://" + c.Servers[0]), UsePathStyle: true, HTTPClient: transport,
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
	})}
	if c.Retry.Delay > 0 {
		l.delay = c.Retry.Delay
	}
	return guest.Mutex{Lock: l.wait, TryLock: func(ctx context.Context) (guest.Lease, error) { return l.put(ctx, rand.Text()) }, Unlock: l.remove}, nil
}

// lockFile is an object that contains the id of its holder.
type lockFile struct {
	store *s3.Client
	key   *string
	delay time.Duration
	id    string // of the own file
}

// wait puts the file, again and again with growing delays.
func (l *lockFile) wait(ctx context.Context) (guest.Lease, error) {
	const longest = 16 * time.Second
	id := rand.Text()
	for delay := l.delay; ; delay = min(2*delay, longest) {
		lease, err := l.put(ctx, id)
		if err == nil {
			return lease, nil
		}
		select {
		case <-ctx.Done():
			return guest.Lease{}, err
		case <-time.After(delay):
		}
	}
}

// put puts the file unless there is one. As in Terraform, a caller that gives up does so when that is answered.
func (l *lockFile) put(ctx context.Context, id string) (guest.Lease, error) {
	_, err := l.store.PutObject(context.WithoutCancel(ctx), &s3.PutObjectInput{
		Bucket: aws.String(bucket), Key: l.key, Body: strings.NewReader(id), IfNoneMatch: aws.String("*"),
	})
	var refused smithy.APIError
	switch {
	case errors.As(err, &refused) && refused.ErrorCode() == "PreconditionFailed":
		return guest.Lease{}, fmt.Errorf("%w: %w", guest.ErrNotAcquired, err)
	case err != nil:
		return guest.Lease{}, err
	}
	l.id = id
	return guest.Lease{Value: id}, nil
}

// remove deletes the file if it has the own id (unlockWithFile).
func (l *lockFile) remove(ctx context.Context) error {
	file, err := l.store.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(bucket), Key: l.key})
	var none *types.NoSuchKey
	switch {
	case errors.As(err, &none):
		return fmt.Errorf("%w: %w", guest.ErrNotHeld, err)
	case err != nil:
		return err
	}
	id, err := io.ReadAll(file.Body)
	switch err = errors.Join(err, file.Body.Close()); {
	case err != nil:
		return err
	case string(id) != l.id:
		return guest.ErrNotHeld
	}
	_, err = l.store.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: aws.String(bucket), Key: l.key})
	return err
}
