package servers

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/database"
)

// TestRowsHaveWhatAClientReads: text as it was written, and no quotes, which are SQL's.
func TestRowsHaveWhatAClientReads(t *testing.T) {
	got := rows([][]database.Value{{database.Text("it's"), database.Int(7), {}, database.Time(0)}})
	require.Equal(t, [][]any{{"it's", int64(7), nil, "1970-01-01 00:00:00.000000"}}, got)
}
