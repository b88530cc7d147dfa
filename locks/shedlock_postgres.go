package locks

// shedlockPostgres is shedlock on PostgreSQL, where the statement that inserts the row takes over one that has expired.
func shedlockPostgres() Algorithm {
	a := shedlock()
	a.Name, a.Servers = "shedlock-postgres", "postgres"
	a.Title = "ShedLock's row on PostgreSQL: host, and expiry by the clients' clocks"
	a.Source += ", PostgresSqlStatementsSource"
	a.New = newShedlock(shedlockSQL{
		insert: "INSERT INTO shedlock (name, lock_until, locked_at, locked_by) VALUES ($1, $2, $3, $4) ON CONFLICT (name) " +
			"DO UPDATE SET lock_until = $2, locked_at = $3, locked_by = $4 WHERE shedlock.lock_until <= $3",
		update: "UPDATE shedlock SET lock_until = $1, locked_at = $2, locked_by = $3 WHERE name = $4 AND lock_until <= $5",
		unlock: "UPDATE shedlock SET lock_until = $1 WHERE name = $2 AND locked_by = $3",
	})
	return a
}
