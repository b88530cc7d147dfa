package locks

// valkeyDelifeq is setNXLua on Valkey 9.0, whose DELIFEQ does what the script of the release does. Redis has no command of that name,
// and Valkey none called DELEX before 9.2; see redisDelex for what becomes of a lock whose server does not have the command.
func valkeyDelifeq() Algorithm {
	a := setNXLua()
	a.Name, a.Title = "valkey-delifeq", "SET NX PX with a random value, released by DELIFEQ of Valkey 9"
	a.Source, a.Version = "Valkey documentation, DELIFEQ (since 9.0)", "valkey-9.0"
	a.New, a.Scripts = newCompareAndDelete("DELIFEQ"), nil
	return a
}
