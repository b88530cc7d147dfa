package locks

// objsync is s3Lease as it is published: where there is no object, its provider for S3 puts one without a condition
// (provider/s3/s3.go, AtomicUpdateObject). Two clients that find none both get the lock, with the same token.
func objsync() Algorithm {
	a := s3Lease()
	a.Name, a.Title, a.Source = "objsync", "s3-lease whose first put has no condition", "dpeckett/objsync, provider/s3"
	a.Status, a.New, a.Reference = Mistake, newS3Lease(false), "s3-lease"
	return a
}
