module looping.test

go 1.26.0

require github.com/locksim/locksim v0.0.0

replace github.com/locksim/locksim => ../../../../..
