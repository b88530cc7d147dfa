package locktest_test

import (
	"os"
	"reflect"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/locksim/locksim/internal/long"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// lock is one that is put to the test with the options that are the least it needs.
type lock struct {
	name  string
	build locks.Builder
	o     locktest.Options
	// breaks is a promise that a wrong lock breaks, perhaps among others.
	breaks locktest.Promise
}

// fiveHundred is a time-out that is well within a lease.
const fiveHundred = 500 * time.Millisecond

// wrong are locks with one mistake each.
func wrong() []lock {
	return []lock{
		{name: "looks first", breaks: locktest.ExclusionWithinLease, build: plant{looksFirst: true}.build},
		{name: "takes what is nearly over", breaks: locktest.ExclusionWithinLease, build: plant{takesOver: true}.build},
		{name: "overwrites", breaks: locktest.ExclusionWithinLease, build: plant{overwrites: true}.build},
		{name: "expires later", breaks: locktest.Progress, build: plant{expiresLater: true}.build},
		{name: "stays forever", breaks: locktest.Progress, build: plant{staysForEver: true}.build},
		{name: "one value, with a time-out", breaks: locktest.ReleaseSafety, build: plant{oneValue: true, timeout: fiveHundred}.build},
		{name: "constant value", breaks: locktest.ReleaseSafety, build: plant{constant: true}.build},
		{name: "cleans up", breaks: locktest.ExclusionWithinLease, build: plant{cleansUp: true}.build},
		{name: "trusts errors", breaks: locktest.ExclusionWithinLease, build: plant{trustsErrors: true}.build},
		{name: "trusts unknown", breaks: locktest.ExclusionWithinLease, build: plant{trustsUnknown: true}.build},
		{name: "trusts unknown, with a time-out", breaks: locktest.ExclusionWithinLease, build: plant{trustsUnknown: true, timeout: fiveHundred}.build},
		{name: "trusts nil", breaks: locktest.ExclusionWithinLease, build: plant{trustsNil: true}.build},
		{name: "deletes any", breaks: locktest.ReleaseSafety, build: plant{deletesAny: true}.build},
		{name: "deletes any, short lease", breaks: locktest.ReleaseSafety, build: plant{deletesAny: true, ttl: time.Second}.build},
		{name: "looks and deletes", breaks: locktest.ReleaseSafety, build: plant{looksAndDels: true}.build},
		{name: "looks and deletes when no answer has come", breaks: locktest.ReleaseSafety, build: plant{looksAgain: true}.build},
		{name: "never deletes", breaks: locktest.Handover, build: plant{neverDeletes: true}.build},
		{name: "deadline from the reply", breaks: locktest.ExclusionUntilDeadline, build: plant{deadline: true, fromReply: true}.build},
		{name: "deadline twice as far", breaks: locktest.ExclusionUntilDeadline, build: plant{deadline: true, twice: true}.build},
		{name: "numbers that are sorted as text", breaks: locktest.Handover, build: newUnpadded},
		{name: "an end that was told before the wait", breaks: locktest.ExclusionUntilDeadline, build: ends{outdated: true}.build},
		{name: "deadline on the wall clock", breaks: locktest.ExclusionUntilDeadline, build: plant{deadline: true, wall: true}.build},
		{name: "a life that each try prolongs", breaks: locktest.Progress, build: newCounter},
		{name: "never rests", breaks: locktest.WaiterLoad, build: plant{neverRests: true}.build},
		{name: "cuts short", breaks: locktest.ReleaseSafety, build: plant{cutsShort: true}.build},
		{name: "prolongs any", breaks: locktest.ExclusionAtService, build: plant{renews: true, prolongsAny: true}.build},
		{name: "prolongs any beside the dead", breaks: locktest.Expiry, build: plant{renews: true, prolongsAny: true}.build},
		{name: "looks and prolongs", breaks: locktest.ExclusionAtService, build: plant{renews: true, looksAndProlongs: true}.build},
		{name: "notice that never comes", breaks: locktest.Notice, build: plant{renews: true, tells: true, isSilent: true}.build},
		{name: "renewals that are not sent", breaks: locktest.Notice, build: plant{renews: true, tells: true, sendsNothing: true}.build},
		{name: "renews any", breaks: locktest.ExclusionAtService, build: plant{renews: true, renewsAny: true}.build},
		{name: "renews by setting", breaks: locktest.ExclusionAtService, build: plant{renews: true, resets: true}.build},
		{name: "renews any forever", breaks: locktest.ExclusionAtService, build: plant{renews: true, renewsAny: true, neverStops: true}.build},
		{name: "renews by setting forever", breaks: locktest.ExclusionAtService, build: plant{renews: true, resets: true, neverStops: true}.build},
		{name: "renews forever", breaks: locktest.Progress, build: plant{renews: true, neverStops: true}.build},
		{name: "renews too late", breaks: locktest.ExclusionWhileRenewed, build: plant{renews: true, tooLate: true}.build},
		{name: "renews once", breaks: locktest.ExclusionWhileRenewed, build: plant{renews: true, once: true}.build},
		{name: "leaves all", breaks: locktest.Reentrance, build: plant{countsEnter: true, leavesAll: true}.build},
		{name: "leaves before the last", breaks: locktest.Reentrance, build: plant{countsEnter: true, leavesEarly: true}.build},
		{name: "token in a request of its own", breaks: locktest.TokenOrder, build: plant{token: true, tokenAside: true}.build},
		{name: "token before", breaks: locktest.TokenOrder, build: plant{token: true, tokenBefore: true}.build},
		{name: "token of the process", breaks: locktest.TokenOrder, build: plant{token: true, tokenOwn: true}.build},
		{name: "token that expires", breaks: locktest.TokenOrder, build: plant{token: true, tokenExpires: true}.build},
		{name: "token of the clock", breaks: locktest.TokenOrder, build: plant{token: true, tokenOfClock: true}.build},

		{name: "first of a sorted set removed", breaks: locktest.ReleaseSafety, build: seat().leaving(`return redis.call("zremrangebyrank", KEYS[1], 0, 0)`).build},
		{name: "never leaves the queue", breaks: locktest.Handover, build: neverLeaves},
		{name: "handed on by anybody", breaks: locktest.ReleaseSafety, build: handed().leaving(handOn + `return 1`).build},
		{name: "head of a list popped", breaks: locktest.ReleaseSafety, build: line().leaving(`redis.call("lpop", KEYS[1]) return 1`).build},
		{name: "any note torn up", breaks: locktest.ReleaseSafety, build: note().leaving(`return redis.call("del", KEYS[1])`).build},

		{name: "looks for an item first", breaks: locktest.ExclusionWithinLease, build: itemPlant{looksFirst: true}.build},
		{name: "touches any", breaks: locktest.Expiry, build: itemPlant{touchesAny: true}.build},
		{name: "cuts an item short", breaks: locktest.ReleaseSafety, build: itemPlant{cutsShort: true}.build},
		{name: "gets an item and sets it again", breaks: locktest.ExclusionAtService, build: itemPlant{renews: true, sets: true}.build},
		{name: "gets an item and deletes it", breaks: locktest.ReleaseSafety, build: itemPlant{deletes: true}.build},
		{name: "row forever", breaks: locktest.Progress, build: rowPlant{staysForEver: true}.build},
		{name: "renews any row", breaks: locktest.ExclusionAtService, build: rowPlant{renews: true, renewsAny: true}.build},
		{name: "renews any row beside the dead", breaks: locktest.Expiry, build: rowPlant{renews: true, renewsAny: true}.build},

		{name: "keeps a name", breaks: locktest.Handover, build: namedPlant{keeps: true}.build},
		{name: "lost answer for a grant", breaks: locktest.ExclusionWithinSession, build: etcdPlant{unknownIsYes: true}.build},
		{name: "lost answer for a grant, with a time-out", breaks: locktest.ExclusionWithinSession, build: etcdPlant{unknownIsYes: true, timeout: fiveHundred}.build},
		{name: "watches from now", breaks: locktest.Handover, build: watchedPlant{fromNow: true}.build},
		{name: "a failed release goes on with keep-alives", breaks: locktest.Progress, build: etcdPlant{keepsAlive: true, timeout: fiveHundred}.build},
		{name: "sends no keep-alive", breaks: locktest.NoSilentLoss, build: etcdPlant{keepsNot: true}.build},
		{name: "does not rest during a lock-delay", breaks: locktest.WaiterLoad, build: sessionPlant{hotDelay: true}.build},
		{name: "releases any session's key", breaks: locktest.ReleaseSafety, build: sessionPlant{releasesAny: true}.build},

		{name: "minority", breaks: locktest.ExclusionWithinLease, build: redPlant{minority: true}.build},
		{name: "counts errors", breaks: locktest.ExclusionWithinLease, build: redPlant{countsErrors: true}.build},
		{name: "counts lost answers beside errors", breaks: locktest.ExclusionWithinLease, build: redPlant{countsLost: true}.build},
		{name: "majority of the reachable", breaks: locktest.ExclusionWithinLease, build: redPlant{ofReachable: true}.build},
		{name: "adds drift", breaks: locktest.ExclusionUntilDeadline, build: redPlant{addsDrift: true}.build},
		{name: "no drift", breaks: locktest.ExclusionUntilDeadline, build: redPlant{noDrift: true}.build},
		{name: "small drift", breaks: locktest.ExclusionUntilDeadline, build: redPlant{smallDrift: true}.build},
		{name: "ignores time", breaks: locktest.ExclusionUntilDeadline, build: redPlant{ignoresTime: true}.build},
		{name: "validity from the reply", breaks: locktest.ExclusionUntilDeadline, build: redPlant{fromReply: true}.build},
		{name: "validity from the last vote", breaks: locktest.ExclusionUntilDeadline, build: redPlant{fromLast: true}.build},
		{name: "renews any everywhere", breaks: locktest.Expiry, build: redPlant{renews: true, renewsAny: true}.build},
		{name: "renews by one vote", breaks: locktest.NoSilentLoss, build: redPlant{renews: true, oneVote: true}.build},
		{name: "wall clock", breaks: locktest.ExclusionUntilDeadline, build: redPlant{wall: true}.build},
		{name: "one value for all tries", breaks: locktest.ReleaseSafety, build: redPlant{oneValue: true}.build},
		{name: "no time-out", breaks: locktest.Availability, build: redPlant{noTimeout: true}.build},
		{name: "keeps failed tries", breaks: locktest.Handover, build: redPlant{keepsFailed: true}.build},
		{name: "cleans granted only", breaks: locktest.Handover, build: redPlant{cleansGranted: true}.build},
		{name: "frees one server", breaks: locktest.Handover, build: redPlant{frees: true}.build},
		{name: "deletes any everywhere", breaks: locktest.ReleaseSafety, build: redPlant{deletesAny: true}.build},

		{name: "forces a repeated Unlock", breaks: locktest.ReleaseSafety, build: plant{forces: true, timeout: fiveHundred}.build},
		{name: "forces a repeated Unlock of a row", breaks: locktest.ReleaseSafety, build: rowPlant{forces: true}.build},
		{name: "a repeated Unlock deletes whatever row is there", breaks: locktest.ReleaseSafety, build: madeRow{byName: true}.build, o: anyEnd},
		{name: "a repeated Unlock deletes the first node", breaks: locktest.ReleaseSafety, build: queuePlant{unlocksFirst: true}.build},
		{name: "a repeated Unlock deletes the first key", breaks: locktest.ReleaseSafety, build: etcdPlant{unlocksFirst: true, timeout: fiveHundred}.build},
		{name: "releases again after it was reacquired", breaks: locktest.ExclusionWithinLease, build: plant{keepsTrying: true, timeout: fiveHundred}.build},
		{name: "a refused try leaves its node", breaks: locktest.Handover, build: queuePlant{tryLeaves: true}.build},
		{name: "giving up leaves a key", breaks: locktest.Handover, build: etcdPlant{leavesKey: true}.build},
		{name: "a connection that nobody says is over", breaks: locktest.Notice, build: namedPlant{pings: true, deaf: true}.build},
		{name: "giving up leaves a statement", breaks: locktest.Handover, build: namedPlant{leaves: true}.build},
		{name: "renews until the first release only", breaks: locktest.ExclusionWhileRenewed, build: plant{renews: true, oneStop: true}.build},
		{name: "a retry with the old token", breaks: locktest.TokenOrder, build: plant{token: true, tokenKept: true}.build},
		{name: "assumes its own key after two lost answers", breaks: locktest.ExclusionWithinLease, build: plant{assumesOwn: true}.build},
		{name: "assumes its own key after two lost answers, with a time-out", breaks: locktest.ExclusionWithinLease, build: plant{assumesOwn: true, timeout: fiveHundred}.build},

		{name: "revives a permit that was returned", breaks: locktest.ExclusionAtService, build: permitPlant{renews: true, revives: true}.build},
		{name: "a failed Acquire leaves its node", breaks: locktest.NothingLeft, build: queuePlant{errorLeaves: true}.build},
		{name: "its node is looked for without a sync", breaks: locktest.NothingLeft, build: queuePlant{unsynced: true}.build},
		{name: "a failed try leaves its votes", breaks: locktest.NothingLeft, build: redPlant{keepsFailed: true}.build},
		{name: "a release that does nothing", breaks: locktest.NothingLeft, build: plant{neverDeletes: true}.build},
		{name: "a watchdog that ends with an error", breaks: locktest.NoSilentLoss, build: plant{renews: true, tells: true, endsAtError: true}.build},
		{name: "a watchdog that renews once", breaks: locktest.NoSilentLoss, build: plant{renews: true, once: true}.build},

		{name: "trusts own node", breaks: locktest.ExclusionUntilSuspended, build: queuePlant{trustsOwn: true}.build},
		{name: "watches own node", breaks: locktest.Progress, build: queuePlant{watchesOwn: true}.build},
		{name: "no re-listing", breaks: locktest.ExclusionWithinSession, build: queuePlant{noRelisting: true}.build},
		{name: "watches first, no re-listing", breaks: locktest.ExclusionWithinSession, build: queuePlant{watchesFirst: true, noRelisting: true}.build},
		{name: "sleeps through", breaks: locktest.Handover, build: queuePlant{sleepsThrough: true}.build},
		{name: "watches once", breaks: locktest.Progress, build: queuePlant{watchesOnce: true}.build},
		{name: "deletes first", breaks: locktest.ReleaseSafety, build: queuePlant{deletesFirst: true}.build},
		{name: "deletes all", breaks: locktest.ReleaseSafety, build: queuePlant{deletesAll: true}.build},
		{name: "trusts failed lists", breaks: locktest.ExclusionUntilSuspended, build: queuePlant{trustsErrors: true}.build},
		{name: "abandons nodes", breaks: locktest.Progress, build: queuePlant{abandons: true}.build},
		{name: "leaves its node", breaks: locktest.Handover, build: queuePlant{leavesNode: true}.build},
		{name: "orders by name", breaks: locktest.ExclusionWithinSession, build: queuePlant{byName: true}.build},
	}
}

// right are the same locks without a mistake.
func right() []lock {
	return []lock{
		{name: "lease", build: plant{}.build},
		{name: "lease, with a time-out", build: plant{timeout: fiveHundred}.build},
		{name: "short lease", build: plant{ttl: time.Second}.build},
		{name: "lease on a master with replicas", build: plant{}.build, o: locktest.Options{Replicas: 2}},
		{name: "deadline", build: plant{deadline: true}.build},
		{name: "deadline with an allowance", build: plant{deadline: true, allows: true}.build},
		{name: "watchdog that tells", build: plant{renews: true, tells: true, timeout: fiveHundred}.build},
		{name: "watchdog that gives up and tells", build: plant{renews: true, tells: true, once: true, timeout: fiveHundred}.build},
		{name: "watchdog", build: plant{renews: true}.build},
		{name: "watchdog that writes the key again", build: plant{renews: true, tells: true, rewrites: true, timeout: fiveHundred}.build},
		{name: "reentrant", build: plant{countsEnter: true}.build},
		{name: "token", build: plant{token: true}.build},
		{name: "seat in a sorted set", build: seat().build},
		{name: "hash that says until when", build: func(p locks.Process) (locks.Lock, error) { return hash{p}, nil }},
		{name: "key that says until when", build: ends{}.build},
		{name: "key that says until when, and outlasts it", build: ends{outlasts: true}.build},
		{name: "item that says it is free", build: func(p locks.Process) (locks.Lock, error) { return freed{p}, nil }},
		{name: "key that ends by a client's clock", build: dated},
		{name: "renewals that a replica has", build: acknowledged, o: locktest.Options{Replicas: 1}},
		{name: "renewals that one of two replicas has", build: acknowledged, o: locktest.Options{Replicas: 2}},
		{name: "key that gets another lease", build: leasedAnew},
		{name: "leases that differ", build: ofManyLengths},
		{name: "entry that ends before its set", build: entry},
		{name: "row that is made each time", build: newLockedRow, o: locktest.Options{Servers: "mysql"}},
		{name: "row that is made and deleted", build: madeRow{}.build, o: anyEnd},
		{name: "row of PostgreSQL", build: postgresRow, o: locktest.Options{Servers: "postgres"}},
		{name: "renewals that come to an end", build: thrice},
		{name: "key that says it is free", build: func(p locks.Process) (locks.Lock, error) { return marked{p}, nil }},
		{name: "item that others watch", build: newWatchedItem},
		{name: "note with an end", build: note().build},
		{name: "line in a list", build: line().build},
		{name: "token of the first entry", build: entersAgain},
		{name: "key that is held for at least half of its lease", build: heldForAtLeast().build},
		{name: "hash that stays", build: hashThatStays().build},
		{name: "key that is emptied", build: emptied},
		{name: "second until which a key is held", build: untilASecond().build},
		{name: "row that is swept before", build: sweptRow, o: locktest.Options{Servers: "mysql"}},
		{name: "key that is held for a while before it counts", build: quarantined},
		{name: "lease that is shorter for who does not wait", build: shorterTry},
		{name: "long lease with short renewals", build: shortRenewals},
		{name: "key that is handed on", build: handed().build},
		{name: "key that is deleted in the background", build: deletedAside},
		{name: "hash that counts the refused", build: guests().build},
		{name: "permit", build: permitPlant{}.build},
		{name: "permit with a watchdog", build: permitPlant{renews: true}.build},
		{name: "item", build: itemPlant{}.build},
		{name: "item with a watchdog", build: itemPlant{renews: true}.build},
		{name: "name of which a connection is looked at", build: namedPlant{pings: true}.build},
		{name: "name", build: namedPlant{}.build},
		{name: "name that is rarely asked for", build: namedPlant{rarely: true}.build},
		{name: "session", build: sessionPlant{}.build},
		{name: "session that is given up early", build: sessionPlant{renewsOnce: true, tells: true}.build},
		{name: "key with a lease", build: etcdPlant{}.build},
		{name: "key with a lease, with a time-out", build: etcdPlant{timeout: fiveHundred}.build},
		{name: "key with a lease that is not renewed", build: nineSeconds{}.build},
		{name: "key with a lease of which nothing is said", build: silently(nineSeconds{}.build)},
		{name: "key with a long lease", build: etcdPlant{ttl: time.Minute}.build},
		{name: "key that is watched", build: watchedPlant{}.build},
		{name: "row", build: rowPlant{}.build},
		{name: "row until a number", build: rowPlant{counts: true}.build},
		{name: "row with a watchdog", build: rowPlant{renews: true}.build},
		{name: "redlock", build: redPlant{}.build},
		{name: "redlock of scripts", build: redPlant{inScript: true}.build},
		{name: "redlock with a watchdog", build: redPlant{renews: true}.build},
		{name: "queue", build: queuePlant{}.build},
		{name: "queue that cleans up in the background", build: queuePlant{aside: true}.build},
		{name: "queue that watches the first", build: queuePlant{watchesFirst: true}.build},
		{name: "queue that does not tell of suspension", build: queuePlant{staysAttached: true}.build},
		{name: "queue that tells nothing", build: queuePlant{deaf: true}.build},
		{
			name: "hardly rests", build: plant{hardlyRests: true}.build,
			o: locktest.Options{Only: []locktest.Promise{locktest.WaiterLoad}},
		},
	}
}

// some are the first lock of each kind, such as a queue or a row, and of those of its kind each k-th.
func some(list []lock, k int) []lock {
	var kept []lock
	seen := make(map[string]int)
	for _, l := range list {
		kind := runtime.FuncForPC(reflect.ValueOf(l.build).Pointer()).Name() // whose method builds it
		if seen[kind]%k == 0 {
			kept = append(kept, l)
		}
		seen[kind]++
	}
	return kept
}

// seeds is how many series of schedules each lock is put to: one, or LOCKTEST_SEEDS.
func seeds(t *testing.T) uint64 {
	t.Helper()
	text, ok := os.LookupEnv("LOCKTEST_SEEDS")
	if !ok {
		return 1
	}
	n, err := strconv.ParseUint(text, 10, 32)
	require.NoError(t, err)
	return n
}

// patience is how many schedules right locks are put to, for the sake of time, where nothing else is asked for.
const patience = 40

// anyEnd is for rows that stay when their makers die.
var anyEnd = locktest.Options{Servers: "mysql", Waive: []locktest.Promise{locktest.Progress}}

func TestWrongLocksAreCaught(t *testing.T) {
	for _, l := range some(append(wrong(), wrongOfCatalogue()...), long.Every(4, 1)) {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			for seed := range seeds(t) {
				l.o.Seed, l.o.Only = seed<<32, []locktest.Promise{l.breaks}
				schedule, text, err := locktest.FirstBreach(l.build, l.o)
				require.NoError(t, err)
				require.NotZero(t, schedule, "not caught with seed %#x", l.o.Seed)
				t.Logf("in schedule %d: %s", schedule, text)
			}
		})
	}
}

// TestEachFocusFindsItsMistake: faults that seldom coincide by chance are drawn together on purpose, so that any seed finds the mistake.
func TestEachFocusFindsItsMistake(t *testing.T) {
	for _, tc := range []struct {
		focus  string
		build  locks.Builder
		breaks locktest.Promise
		within int // schedules
		faults int // that it needs
	}{
		{"others take and release what its holder has lost", permitPlant{renews: true, revives: true}.build, locktest.ExclusionAtService, 150, 1},
		{"a lost request, and a pause before the next", plant{looksAgain: true}.build, locktest.ReleaseSafety, 700, 2},
		{"a pause while the answer waits", plant{deadline: true, allows: true, fromReply: true}.build, locktest.ExclusionUntilDeadline, 300, 1},
		{"a pause while the first of two answers waits", nineSeconds{fromLease: true}.build, locktest.ExclusionUntilDeadline, 150, 1},
		{"a pause between two requests of a release", itemPlant{deletes: true}.build, locktest.ReleaseSafety, 400, 1},
		{"a majority out of reach", redPlant{renews: true, oneVote: true}.build, locktest.NoSilentLoss, 200, 1},
		{"one comes while another leaves", watchedPlant{fromNow: true}.build, locktest.Handover, 100, 0},
		{"a section outlasts what one failed renewal ends", sessionPlant{renewsOnce: true}.build, locktest.ExclusionWithinSession, 700, 1},
		{"two faults at one acquisition", redPlant{countsLost: true}.build, locktest.ExclusionWithinLease, 700, 2},
	} {
		t.Run(tc.focus, func(t *testing.T) {
			t.Parallel()
			o := locktest.Options{Only: []locktest.Promise{tc.breaks}}
			series := uint64(long.Pick(1, 1, 10))
			for seed := range series {
				o.Seed = seed << 32
				schedule, text, err := locktest.FirstBreach(tc.build, o)
				require.NoError(t, err)
				require.NotZero(t, schedule, "not found with seed %#x", o.Seed)
				require.LessOrEqual(t, schedule, tc.within, "seed %#x: %s", o.Seed, text)
			}
			o.Seed = 9 << 32
			found, err := locktest.Check(tc.build, o)
			require.NoError(t, err)
			require.Len(t, found.Scenario.Faults, tc.faults, "%s", found.Scenario.YAML())
		})
	}
}

func TestRightLocksPass(t *testing.T) {
	for _, l := range append(right(), rightOfCatalogue()...) {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			if seeds(t) == 1 {
				l.o.Runs = long.Pick(patience/8, patience/8, patience)
			}
			for seed := range seeds(t) {
				l.o.Seed = seed << 32
				found, err := locktest.Check(l.build, l.o)
				require.NoError(t, err)
				require.Nil(t, found, "%s", found)
			}
		})
	}
}

func TestLocksThatCannotBeTestedAreRefused(t *testing.T) {
	for _, c := range []struct {
		build  locks.Builder
		o      locktest.Options
		refuse string
	}{
		{plant{seconds: true}.build, locktest.Options{}, "keep the lock for 10ms"},
		{plant{milliseconds: true}.build, locktest.Options{}, "keep the lock for 2h46m40"},
		{seat().leaving(`return redis.call("xadd", "log", "*", "left", ARGV[1])`).build, locktest.Options{}, "the lock cannot be released on redis: ERR Unknown Redis command"},
		{asksFor("XADD", "s", "*", "a", "b"), locktest.Options{}, "see docs/your-own-lock.md"},
		{queuePlant{keepsNode: true}.build, locktest.Options{}, "it was acquired and released once, and is not free"},
		{plant{}.build, locktest.Options{Waive: []locktest.Promise{"fairness"}}, `there is no promise "fairness"`},
		{plant{}.build, locktest.Options{Faults: []string{"pause"}}, `there is no kind of faults "pause": there are client-crash, `},
		{plant{}.build, locktest.Options{Servers: "postgre"}, `there are no servers of the kind "postgre"`},
		{plant{}.build, locktest.Options{Servers: "etcd"}, "the lock asks for a client of Redis"},
	} {
		_, err := locktest.Check(c.build, c.o)
		require.ErrorContains(t, err, c.refuse)
	}
}
