package locks

// shedlockDBTime is shedlock with usingDbTime: all times are those of the server's clock, so that those of clients do not matter.
// The rest is as it was.
func shedlockDBTime() Algorithm {
	a := shedlock()
	a.Name, a.Status = "shedlock-db-time", Usable
	a.Title = "ShedLock's row on MySQL with usingDbTime: host, and expiry by the server's clock"
	a.Source += ", MySqlServerTimeStatementsSource"
	a.New = newShedlock(shedlockSQL{
		byServer: true,
		insert: "INSERT IGNORE INTO shedlock (name, lock_until, locked_at, locked_by) " +
			"VALUES (?, NOW(3) + INTERVAL ? MICROSECOND, NOW(3), ?)",
		update: "UPDATE shedlock SET lock_until = NOW(3) + INTERVAL ? MICROSECOND, locked_at = NOW(3), locked_by = ? " +
			"WHERE name = ? AND lock_until <= NOW(3)",
		unlock: "UPDATE shedlock SET lock_until = NOW(3) WHERE name = ? AND locked_by = ?",
	})
	return a
}
