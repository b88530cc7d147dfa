package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/locksim/locksim/search/claims"
)

// readLedger reads what campaigns have played; nothing if there is no such file, or none was named.
func readLedger(file string) (*claims.Ledger, error) {
	if file == "" {
		return &claims.Ledger{}, nil
	}
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return &claims.Ledger{}, nil
	}
	if err != nil {
		return nil, err
	}
	l, err := claims.ReadLedger(f)
	if err != nil {
		err = fmt.Errorf("%s: %w", file, err)
	}
	return l, errors.Join(err, f.Close())
}

// writeLedger replaces the ledger's file.
func (c *call) writeLedger(file string, l *claims.Ledger) error {
	out, err := c.open(file)
	if err != nil {
		return err
	}
	if _, err := l.WriteTo(out); err != nil {
		return errors.Join(err, out.discard())
	}
	return out.commit()
}
