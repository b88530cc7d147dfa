package wording

import (
	"fmt"
	"strconv"
)

// Hex prints seeds and digests as text: JSON readers that know floats alone would round them.
func Hex(x uint64) string { return fmt.Sprintf("%#x", x) }

// TokenText prints a token; one that does not fit into 32 bits as ZooKeeper prints its zxids, so that the epoch in its
// upper half can be told from the count in the lower.
func TokenText(token uint64) string {
	if token>>32 == 0 {
		return strconv.FormatUint(token, 10)
	}
	return fmt.Sprintf("%#x", token)
}
