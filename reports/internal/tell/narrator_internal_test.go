package tell

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOrdinalsEndAsTheirLastDigitsDo(t *testing.T) {
	for n, text := range map[int]string{
		1: "", 2: "second ", 5: "fifth ", 6: "6th ", 11: "11th ", 12: "12th ", 13: "13th ", 20: "20th ",
		21: "21st ", 22: "22nd ", 23: "23rd ", 24: "24th ", 101: "101st ", 111: "111th ", 113: "113th ", 121: "121st ",
	} {
		require.Equal(t, text, ordinal(n))
	}
}

func TestAClauseThatACommaClosesEndsBeforeASemicolon(t *testing.T) {
	got := fit([]string{"a learns of the grant, which has ended,", "a reads version 0"}, 1)
	require.Equal(t, []string{"a learns of the grant, which has ended; a reads version 0"}, got)
}
