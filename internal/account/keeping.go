package account

// This file implements the ledger commands.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/budget/sign"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/regular"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/internal/verdict"
)

// Init opens the account that a policy file describes. A new ledger is signed with the office's key, if there is one,
// from its first entry on.
func (l Ledger) Init(ctx context.Context, policyPath string) (ledger.Policy, error) {
	text, err := regular.Read(policyPath, maxInput)
	if err != nil {
		return ledger.Policy{}, &verdict.Unusable{File: policyPath, Err: err}
	}
	policy, err := ledger.ParsePolicy(policyPath, text)
	if err != nil {
		return policy, err
	}
	open, err := ledger.Open(ctx, l.Path, ledger.OpenOptions{Office: l.Office, Today: l.Today})
	if err != nil {
		return policy, err
	}
	defer open.Close()
	return policy, open.Init(ctx, policy)
}

// Statements returns the statements of the named accounts of the ledger, or of all.
func (l Ledger) Statements(ctx context.Context, accounts []string) ([]ledger.Statement, error) {
	return withLedger(ctx, l, func(open *ledger.Ledger) ([]ledger.Statement, error) {
		return Statements(ctx, open, accounts)
	})
}

// Statements returns the statements of the named accounts of an open ledger, or of all.
func Statements(ctx context.Context, open *ledger.Ledger, accounts []string) ([]ledger.Statement, error) {
	if len(accounts) == 0 {
		var err error
		if accounts, err = open.Accounts(ctx); err != nil {
			return nil, err
		}
	}
	var all []ledger.Statement
	for _, name := range accounts {
		s, err := open.Show(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("account %s: %w", name, err)
		}
		all = append(all, s)
	}
	return all, nil
}

// SignGrant writes the approval of a grant in a role to the folder of approvals, and returns its path.
func (l Ledger) SignGrant(g ledger.Grant, role, statement string, key sign.Key) (string, error) {
	if statement == "" {
		statement = fmt.Sprintf("I agree that the cap of account %s be raised by %s.", g.Account, g.Amount)
	}
	a := ledger.Approval{Plan: g.Hash(), Role: role, Statement: statement}.Signed(key)
	name := fmt.Sprintf("%s.grant-%.8s.%s%s", g.Account, g.Hash(), role, approvalEnd)
	if err := a.Verify(); err != nil {
		return "", &verdict.Unusable{File: name, Err: err}
	}
	return filepath.Join(l.Approvals, name), durable.ReplaceFile(l.Approvals, name, a.Encode())
}

// Grant raises the cap of an account, with the approvals of this grant from the folder of approvals. It returns the
// resulting statement of the account.
func (l Ledger) Grant(ctx context.Context, g ledger.Grant) (s ledger.Statement, err error) {
	all, err := Approvals(l.Approvals)
	if err != nil {
		return s, err
	}
	for _, a := range all {
		if a.Plan == g.Hash() {
			g.Approvals = append(g.Approvals, a)
		}
	}
	return withLedger(ctx, l, func(open *ledger.Ledger) (ledger.Statement, error) {
		if err := open.Grant(ctx, g); err != nil {
			return s, err
		}
		return open.Show(ctx, g.Account)
	})
}

// History returns the events of an account, or of all accounts for "".
func (l Ledger) History(ctx context.Context, account string) ([]ledger.Event, error) {
	return withLedger(ctx, l, func(open *ledger.Ledger) ([]ledger.Event, error) { return open.History(ctx, account) })
}

// Abandon gives up a release that is not finished; see the ledger's method. If that was done before, it returns the
// day, and the reason given first stays.
func (l Ledger) Abandon(ctx context.Context, account, release, reason string) (since string, err error) {
	return l.endRelease(ctx, account, release, ledger.Abandoned,
		func(open *ledger.Ledger) error { return open.Abandon(ctx, account, release, reason) })
}

// Withdraw marks a finished release as not to be used. It returns the day if that was done before.
func (l Ledger) Withdraw(ctx context.Context, account, release, reason string) (since string, err error) {
	return l.endRelease(ctx, account, release, ledger.Withdrawn,
		func(open *ledger.Ledger) error { return open.Withdraw(ctx, account, release, reason) })
}

// endRelease ends a release unless that was done before.
func (l Ledger) endRelease(ctx context.Context, account, release string, state ledger.State,
	do func(*ledger.Ledger) error) (since string, err error) {
	return withLedger(ctx, l, func(open *ledger.Ledger) (string, error) {
		s, err := open.Show(ctx, account)
		if err != nil {
			return "", err
		}
		for _, r := range s.Releases {
			if r.Account == account && r.Release == release && r.State == state {
				return r.Date, nil
			}
		}
		return "", do(open)
	})
}

// Export writes the public part of the ledger to a new file or, for an empty path, to w.
func (l Ledger) Export(ctx context.Context, path string, w io.Writer) error {
	return l.With(ctx, func(open *ledger.Ledger) error {
		if path == "" {
			return open.Export(ctx, w)
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			return &verdict.Unusable{File: path,
				Err: errors.New("there is a file already: name another one for the export")}
		}
		if err != nil {
			return fmt.Errorf("exporting the ledger: %w", err)
		}
		err = open.Export(ctx, f)
		if err == nil {
			err = f.Sync()
		}
		if err = errors.Join(err, f.Close()); err != nil {
			err = errors.Join(err, os.Remove(path))
		}
		return err
	})
}

// Upgrade adds the guards of the ledger's entries that an earlier version did not make, and returns them in words.
func (l Ledger) Upgrade(ctx context.Context) ([]string, error) {
	return withLedger(ctx, l, func(open *ledger.Ledger) ([]string, error) { return open.Upgrade(ctx) })
}

// Verified is the result of verifying a whole ledger.
type Verified struct {
	Accounts []ledger.Statement
	Releases []string // folders of releases whose debits the ledger holds
	Skipped  []string // folders without a proof of a debit on an account, with the reason
}

// Verify checks every entry, and that the ledger holds the debit of every release in the folders; of a release of
// several holders, it must hold the debit of one. Each folder holds a release, or several in folders of their own.
func (l Ledger) Verify(ctx context.Context, folders []string) (v Verified, err error) {
	var records []paidRelease
	for _, folder := range folders {
		more, skipped, err := publishedBelow(folder)
		if err != nil {
			return v, err
		}
		records, v.Skipped = append(records, more...), append(v.Skipped, skipped...)
	}
	err = l.With(ctx, func(open *ledger.Ledger) error {
		if err := open.Verify(ctx); err != nil {
			return err
		}
		for _, r := range records {
			if err := containsOne(ctx, open, r.records); err != nil {
				return fmt.Errorf("%s: %w", r.folder, err)
			}
			v.Releases = append(v.Releases, r.folder)
		}
		v.Accounts, err = Statements(ctx, open, nil)
		return err
	})
	return v, err
}

// containsOne returns an error unless the ledger holds one of these debits; then it is of the first.
func containsOne(ctx context.Context, l *ledger.Ledger, records []ledger.Record) error {
	first := l.Contains(ctx, records[0])
	for _, r := range records[1:] {
		if first != nil && l.Contains(ctx, r) == nil {
			return nil
		}
	}
	return first
}

// paidRelease is a published folder that an account paid for; of several holders, one of each.
type paidRelease struct {
	folder  string
	records []ledger.Record
}

// publishedBelow returns the official releases that a folder is or contains, and the folders that are none.
func publishedBelow(folder string) (all []paidRelease, skipped []string, err error) {
	places := []string{folder}
	if _, err := os.Stat(filepath.Join(folder, published.ProofFile)); errors.Is(err, fs.ErrNotExist) {
		names, err := os.ReadDir(folder)
		if err != nil {
			return nil, nil, &verdict.Unusable{File: folder, Err: err}
		}
		places = nil
		for _, name := range names {
			place := filepath.Join(folder, name.Name())
			if info, err := os.Stat(place); err == nil && info.IsDir() && filepath.Base(place) != ".dprelease" {
				places = append(places, place)
			}
		}
	}
	for _, place := range places {
		missing, err := firstMissing(place, published.ProofFile, published.ManifestFile)
		if err != nil {
			return nil, nil, &verdict.Unusable{File: folder, Err: err}
		}
		if missing != "" {
			skipped = append(skipped, screen.Quoted(place)+": it has no "+missing)
			continue
		}
		d, err := published.OpenFolder(place)
		if err != nil {
			return nil, nil, err
		}
		records, err := d.ReadRecords()
		if err != nil {
			return nil, nil, err
		}
		if status := records[0].Status; status != ledger.Official {
			skipped = append(skipped, fmt.Sprintf("%s: its status is %q", screen.Quoted(place), status))
			continue
		}
		all = append(all, paidRelease{folder: place, records: records})
	}
	if all == nil {
		return nil, nil, &verdict.Unusable{File: folder,
			Err: fmt.Errorf("holds no %s of a release on an account: give the folder of a release, or one with "+
				"releases in it",
				published.ProofFile)}
	}
	return all, skipped, nil
}

// firstMissing returns the first of some files that a folder lacks, "" if it has them all.
func firstMissing(folder string, files ...string) (string, error) {
	for _, file := range files {
		if there, err := durable.Exists(filepath.Join(folder, file)); err != nil || !there {
			return file, err
		}
	}
	return "", nil
}
