// Package account keeps the ledgers that pay for releases: the ledger that an office has configured, and the practice
// ledger in the state directory. It opens them, implements the ledger commands, and writes and reads the approvals
// that people sign. It knows no step of a release.
package account

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/budget/sign"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/spec/files"
)

// Ledger is a configured ledger that is not open.
type Ledger struct {
	Path   string    // a file or postgres://…; empty: none is configured
	Trust  string    // file of the public key that must sign it; empty: anybody's is read
	Office *sign.Key // signs its entries; nil: nothing is signed
	Today  string    // today's date as a person confirms it, for an entry long after the last one; empty: none

	Approvals string // folder with approvals; empty: none
}

// Open opens the ledger, which must exist. Errors: *[Missing]; *[verdict.Unusable] if the key cannot be read; those of
// [ledger.OpenExisting].
func (l Ledger) Open(ctx context.Context) (*ledger.Ledger, error) {
	options := ledger.OpenOptions{Office: l.Office, Today: l.Today}
	if l.Trust != "" {
		var err error
		if options.Trust, err = sign.ReadPublicKey(l.Trust); err != nil {
			return nil, &verdict.Unusable{File: l.Trust, Err: err}
		}
	}
	open, err := ledger.OpenExisting(ctx, l.Path, options)
	if errors.Is(err, fs.ErrNotExist) {
		err = &Missing{Path: l.Path, Err: err}
	}
	return open, err
}

// With calls work with the open ledger and closes it.
func (l Ledger) With(ctx context.Context, work func(*ledger.Ledger) error) error {
	open, err := l.Open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(work(open), open.Close())
}

// withLedger is [Ledger.With] for work that returns a value.
func withLedger[T any](ctx context.Context, l Ledger, work func(*ledger.Ledger) (T, error)) (made T, err error) {
	err = l.With(ctx, func(open *ledger.Ledger) error {
		made, err = work(open)
		return err
	})
	return made, err
}

// Practice returns the path of the practice ledger of a state directory.
func Practice(stateDir string) string { return filepath.Join(stateDir, files.StatePractice) }

// OpenPractice opens the practice ledger that a run has left in a state directory. Nobody administers it, so nobody is
// asked to confirm the clock.
func OpenPractice(ctx context.Context, stateDir string) (*ledger.Ledger, error) {
	path := Practice(stateDir)
	if found, err := durable.Exists(path); err != nil || !found {
		return nil, errors.Join(err, &verdict.Unusable{File: path, Err: errors.New(
			"there is no practice ledger here, which paid for this release: say where its state is (--state DIR)")})
	}
	if err := durable.Private(stateDir); err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	return ledger.OpenExisting(ctx, path, ledger.OpenOptions{Today: time.Now().UTC().Format(time.DateOnly)})
}

// Missing reports that the file of a ledger does not exist.
type Missing struct {
	Path string
	Err  error
}

func (e *Missing) Error() string { return e.Err.Error() }
func (e *Missing) Unwrap() error { return e.Err }

// Verdict returns that the ledger may appear later.
func (*Missing) Verdict() verdict.Verdict {
	return verdict.Verdict{Exit: verdict.ExitEnvironment, Reason: verdict.LedgerMissing, Retry: verdict.Later}
}

// NoAccountNamed reports a spec without an account although a ledger is configured.
type NoAccountNamed struct{ Release string }

func (e *NoAccountNamed) Error() string {
	return fmt.Sprintf("release %s names no ledger account: add `account: NAME` below `privacy:`, with an account of "+
		"the configured ledger", e.Release)
}

// Verdict returns that the spec has to name an account.
func (*NoAccountNamed) Verdict() verdict.Verdict {
	return verdict.Verdict{Exit: verdict.ExitBudget, Reason: verdict.AccountUnnamed, Retry: verdict.Never}
}
