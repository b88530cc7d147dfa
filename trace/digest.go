package trace

import "math/bits"

// Digest condenses a sequence of numbers and strings to 64 bits. It is not a cryptographic hash: it must be
// equal on every machine and cheap, since it is computed over every step of every run. The zero value is ready.
type Digest struct{ a, b uint64 }

// Odd constants with evenly spread bits (fractions of the golden ratio and of the square root of two).
const (
	mixA = 0x9e3779b97f4a7c15
	mixB = 0x6a09e667f3bcc909
)

// Uint64 adds a number. Both halves of a 128-bit product are kept, so that no input bit is lost.
func (d *Digest) Uint64(x uint64) {
	hi, lo := bits.Mul64(d.a^x^mixA, mixB)
	d.a, d.b = lo^bits.RotateLeft64(d.b, 23), hi+x+d.b*mixA
}

// String adds a string and its length.
func (d *Digest) String(s string) {
	x := uint64(len(s)) << 56
	for ; len(s) >= 8; s = s[8:] {
		d.Uint64(x ^ (uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56))
		x = 0
	}
	for i := range len(s) {
		x ^= uint64(s[i]) << (8 * i)
	}
	d.Uint64(x)
}

// Sum returns the digest of everything added so far.
func (d *Digest) Sum() uint64 {
	x := d.a ^ bits.RotateLeft64(d.b, 32)
	x ^= x >> 29
	x *= mixB
	return x ^ x>>32
}
