package search_test

import _ "github.com/locksim/locksim/internal/long" // tests of runs make much garbage
