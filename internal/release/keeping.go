package release

// This file holds how an office keeps its ledger: what the ledger's verbs do.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/internal/sign"
	"github.com/dprelease/dprelease/internal/verdict"
)

// withLedger opens the configured ledger for one piece of work.
func (o Options) withLedger(ctx context.Context, work func(*ledger.Ledger) error) error {
	l, err := o.Account().Open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(work(l), l.Close())
}

// SignGrant writes the approval of a grant in a role to the folder of approvals,
// and returns its path.
func (o Options) SignGrant(g ledger.Grant, role, statement string, key sign.Key) (string, error) {
	if statement == "" {
		statement = fmt.Sprintf("I agree that the cap of account %s be raised by %s.", g.Account, g.Amount)
	}
	a := ledger.Approval{Plan: g.Hash(), Role: role, Statement: statement}.Signed(key)
	name := fmt.Sprintf("%s.grant-%.8s.%s%s", g.Account, g.Hash(), role, approvalEnd)
	if err := a.Verify(); err != nil {
		return "", &verdict.Unusable{File: name, Err: err}
	}
	return filepath.Join(o.Approvals, name), replaceFile(o.Approvals, name, a.Encode())
}

// Grant raises the cap of an account, with the approvals of this grant that lie
// in the folder of approvals. It returns the account as it is then.
func (o Options) Grant(ctx context.Context, g ledger.Grant) (s ledger.Statement, err error) {
	all, err := approvals(o.Approvals)
	if err != nil {
		return s, err
	}
	for _, a := range all {
		if a.Plan == g.Hash() {
			g.Approvals = append(g.Approvals, a)
		}
	}
	err = o.withLedger(ctx, func(l *ledger.Ledger) error {
		if err := l.Grant(ctx, g); err != nil {
			return err
		}
		s, err = l.Show(ctx, g.Account)
		return err
	})
	return s, err
}

// History is what happened to an account, or to all for "".
func (o Options) History(ctx context.Context, account string) (events []ledger.Event, err error) {
	err = o.withLedger(ctx, func(l *ledger.Ledger) error {
		events, err = l.History(ctx, account)
		return err
	})
	return events, err
}

// Abandon gives up a release that is not finished; see the ledger's method. since is the day on which that was done
// before, "" where it is done now: the reason given first stays.
func (o Options) Abandon(ctx context.Context, account, release, reason string) (since string, err error) {
	return o.end(ctx, account, release, ledger.Abandoned,
		func(l *ledger.Ledger) error { return l.Abandon(ctx, account, release, reason) })
}

// Withdraw marks a finished release as not to be used. since: see Abandon.
func (o Options) Withdraw(ctx context.Context, account, release, reason string) (since string, err error) {
	return o.end(ctx, account, release, ledger.Withdrawn,
		func(l *ledger.Ledger) error { return l.Withdraw(ctx, account, release, reason) })
}

// end ends a release, unless that was done before.
func (o Options) end(ctx context.Context, account, release string, state ledger.State,
	do func(*ledger.Ledger) error) (since string, err error) {
	err = o.withLedger(ctx, func(l *ledger.Ledger) error {
		s, err := l.Show(ctx, account)
		if err != nil {
			return err
		}
		for _, r := range s.Releases {
			if r.Account == account && r.Release == release && r.State == state {
				since = r.Date
				return nil
			}
		}
		return do(l)
	})
	return since, err
}

// ExportLedger writes the public part of the ledger, to a new file or, for an
// empty path, to w.
func (o Options) ExportLedger(ctx context.Context, path string, w io.Writer) error {
	return o.withLedger(ctx, func(l *ledger.Ledger) error {
		if path == "" {
			return l.Export(ctx, w)
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			return &verdict.Unusable{File: path, Err: errors.New("there is a file already: name another one for the export")}
		}
		if err != nil {
			return fmt.Errorf("exporting the ledger: %w", err)
		}
		err = l.Export(ctx, f)
		if err == nil {
			err = f.Sync()
		}
		if err = errors.Join(err, f.Close()); err != nil {
			err = errors.Join(err, os.Remove(path))
		}
		return err
	})
}

// UpgradeLedger adds to the ledger what guards its entries and was not made by an earlier version, and returns it in
// words.
func (o Options) UpgradeLedger(ctx context.Context) (added []string, err error) {
	err = o.withLedger(ctx, func(l *ledger.Ledger) error {
		added, err = l.Upgrade(ctx)
		return err
	})
	return added, err
}

// Verified is what a whole ledger was found to be.
type Verified struct {
	Accounts []ledger.Statement
	Releases []string // folders of releases whose debits it holds
	Skipped  []string // folders that hold no proof of a debit on an account, with why
}

// VerifyLedger checks every entry, and that the ledger holds the debit of every
// release in the folders: each the folder of a release, or one that holds some.
func (o Options) VerifyLedger(ctx context.Context, folders []string) (v Verified, err error) {
	var records []paidRelease
	for _, folder := range folders {
		more, skipped, err := publishedBelow(folder)
		if err != nil {
			return v, err
		}
		records, v.Skipped = append(records, more...), append(v.Skipped, skipped...)
	}
	err = o.withLedger(ctx, func(l *ledger.Ledger) error {
		if err := l.Verify(ctx); err != nil {
			return err
		}
		for _, r := range records {
			if err := l.Contains(ctx, r.record); err != nil {
				return fmt.Errorf("%s: %w", r.folder, err)
			}
			v.Releases = append(v.Releases, r.folder)
		}
		v.Accounts, err = statements(ctx, l, nil)
		return err
	})
	return v, err
}

// paidRelease is a release on the disk that an account paid for.
type paidRelease struct {
	folder string
	record ledger.Record
}

// publishedBelow finds the official releases that a folder is, or holds, and the
// folders that are none.
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
		record, err := d.ReadRecord()
		if err != nil {
			return nil, nil, err
		}
		if record.Status != ledger.Official {
			skipped = append(skipped, fmt.Sprintf("%s: its status is %q", screen.Quoted(place), record.Status))
			continue
		}
		all = append(all, paidRelease{folder: place, record: record})
	}
	if all == nil {
		return nil, nil, &verdict.Unusable{File: folder,
			Err: fmt.Errorf("holds no %s of a release on an account: give the folder of a release, or one with releases in it",
				published.ProofFile)}
	}
	return all, skipped, nil
}

// firstMissing is the first of some files that a folder does not have, "" where it has them all.
func firstMissing(folder string, files ...string) (string, error) {
	for _, file := range files {
		if there, err := durable.Exists(filepath.Join(folder, file)); err != nil || !there {
			return file, err
		}
	}
	return "", nil
}
