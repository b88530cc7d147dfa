package locks

// mongoTTLW1 is mongoTTL with the write concern { w: 1 }, which was the default before MongoDB 5.0: the primary answers as soon as it has the
// document itself. If it is replaced before another member has it, the document is rolled back, and the lock is free while
// its holder believes to have it. A primary that is cut off goes on to hand the lock out so for up to ten seconds.
func mongoTTLW1() Algorithm {
	a := mongoTTL()
	a.Name = "mongo-ttl-w1"
	a.Title = "mongo-ttl with the write concern w: 1, which a failover may roll back"
	a.Source = "MongoDB manual, Rollbacks During Replica Set Failover; MongoDB before 5.0, the default write concern"
	a.Status, a.New, a.Reference = Mistake, newMongoTTL(false), "mongo-ttl"
	return a
}
