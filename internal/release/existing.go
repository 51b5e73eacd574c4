package release

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/regular"
	"github.com/dprelease/dprelease/internal/state"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/spec/files"
)

// This file handles a release that exists already: it must be complete, follow from
// this plan, and be paid for from the configured ledger.

// sealedFor returns the ledger record of the plan's measurements that are already sealed in place, and nil if place
// does not exist. It returns an error if place holds anything else, is damaged, or was drawn on another kind of
// account than the one in force.
func sealedFor(place string, p *compiled.Compiled, o Options) (*ledger.Record, error) {
	there, err := durable.Exists(place)
	if err != nil || !there {
		return nil, err
	}
	b, err := regular.Read(filepath.Join(place, measured.PlanFile), planfile.MaxBytes)
	if published.Missing(err) {
		return nil, &Occupied{Folder: place, Why: "holds something else than measurements"}
	}
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(b, p.Bytes()) {
		return nil, &Occupied{Folder: place, Why: "holds the measurements of another plan"}
	}
	_, record, err := openSealed(place, false)
	if err != nil {
		return nil, err
	}
	if err := o.checkStatus(place, record.Status); err != nil {
		return nil, err
	}
	return &record, durable.SyncDir(place)
}

// reconcileMeasured checks existing measurements against the configured ledger and clears the state that a run left if
// it was cut off after sealing them. The name of the folder is made durable before the noise key is erased.
func (o Options) reconcileMeasured(ctx context.Context, p *compiled.Compiled, place string,
	record ledger.Record) error {
	left, err := o.leftStates(p)
	if err != nil || o.Ledger == "" && len(left) == 0 {
		return err
	}
	if err := durable.SyncDir(o.Out); err != nil {
		return err
	}
	return o.clearState(ctx, p, func(l *ledger.Ledger) error {
		err := noteSeal(ctx, l, place, record)
		if o.Ledger == "" && verdict.Has[*Occupied](err) {
			return nil // a practice release whose practice account is elsewhere
		}
		return err
	})
}

// reconcilePublished is reconcileMeasured for a published release whose measurements are no longer there.
func (o Options) reconcilePublished(ctx context.Context, p *compiled.Compiled, place string) error {
	left, err := o.leftStates(p)
	if err != nil || o.Ledger == "" && len(left) == 0 {
		return err
	}
	d, err := published.OpenFolder(place)
	if err != nil {
		return err
	}
	record, err := d.ReadRecord()
	if err != nil {
		return err
	}
	return o.clearState(ctx, p, func(l *ledger.Ledger) error {
		if o.Ledger == "" {
			return nil
		}
		return checkDebit(ctx, l, place, record)
	})
}

// leftStates returns the folders that runs of a plan have left in the state directory.
func (o Options) leftStates(p *compiled.Compiled) ([]string, error) {
	return files.Glob(o.StateDir(), p.Name+"-"+p.Hash()[:16]+"-*") // a name holds no character of a pattern
}

// clearState erases the state of a plan on the ledger in force if check returns no error.
func (o Options) clearState(ctx context.Context, p *compiled.Compiled, check func(*ledger.Ledger) error) error {
	l, charge, err := o.openLedger(ctx, p)
	if err != nil {
		return err
	}
	defer l.Close()
	if err := check(l); err != nil {
		return err
	}
	left, err := o.leftStates(p)
	if err != nil || len(left) == 0 {
		return err
	}
	st, _, err := o.openState(ctx, l, charge)
	if err != nil {
		return err
	}
	defer st.Close()
	return st.Clear()
}

// openState opens the state of a charge's measurement. It also returns the identity of the ledger.
func (o Options) openState(ctx context.Context, l *ledger.Ledger, c ledger.Charge) (st *state.State, identity string,
	err error) {
	if identity, err = l.Identity(ctx); err != nil {
		return nil, "", err
	}
	st, err = state.Open(ctx, o.StateDir(), state.Name(identity, c))
	return st, identity, err
}

// noteSeal checks sealed measurements against the ledger and records their seal there if the run that drew them was
// cut off before it did. Errors: *[Occupied] if the ledger did not pay for them; *ledger.Closed if the release was
// abandoned, withdrawn, or finished with other measurements.
func noteSeal(ctx context.Context, l *ledger.Ledger, place string, record ledger.Record) error {
	if err := checkDebit(ctx, l, place, record); err != nil {
		return err
	}
	return finishInLedger(ctx, l, ledger.Charge{
		Account: record.Account, FurtherAccounts: record.FurtherAccounts, Release: record.Release,
		PlanHash: record.PlanHash, Terms: record.Terms,
		Cost: record.Cost,
	}, place)
}

// checkDebit returns an error unless the ledger holds the debit of the record and its release was neither abandoned
// nor withdrawn.
func checkDebit(ctx context.Context, l *ledger.Ledger, place string, record ledger.Record) error {
	err := l.Contains(ctx, record)
	if notHeld := new(ledger.NotHeld); errors.As(err, &notHeld) {
		return &Occupied{Folder: place,
			Why: fmt.Sprintf("was not paid for from the configured ledger, which does not hold entry %.12s of "+
				"release %s: it is an older copy, or another ledger", record.Proof.Hash, record.Release)}
	}
	if err != nil { // it is altered itself, or cannot be read
		return err
	}
	account, err := l.Show(ctx, record.Account)
	if err != nil {
		return err
	}
	for _, r := range account.Releases {
		if r.Account == record.Account && r.Release == record.Release && r.PlanHash == record.PlanHash &&
			(r.State == ledger.Abandoned || r.State == ledger.Withdrawn) {
			return &ledger.Closed{Account: r.Account, Release: r.Release, Date: r.Debited, State: r.State,
				Since:  r.Date,
				Reason: r.Reason}
		}
	}
	return nil
}

// finishInLedger records in the ledger that the measurements are durable, so that no run draws them again.
func finishInLedger(ctx context.Context, l *ledger.Ledger, c ledger.Charge, place string) error {
	seal, err := measured.DrawnSealHash(place)
	if err != nil {
		return err
	}
	return l.Finish(context.WithoutCancel(ctx), c, seal)
}

// checkPaid returns an error if a sealed folder must not be published here: the configured ledger did not pay for it,
// or the office's key would sign a debit from a ledger that it does not sign.
func (o Options) checkPaid(ctx context.Context, place string, record ledger.Record) error {
	if record.Status != ledger.Official {
		return nil
	}
	if o.Office != nil && record.Proof.Office != o.Office.Public() {
		return &Occupied{Folder: place,
			Why: fmt.Sprintf("was debited in a ledger that the office's key (fingerprint %s) does not sign, so it is "+
				"not signed with that key", o.Office.Public().Fingerprint())}
	}
	if o.Ledger == "" {
		return nil
	}
	l, err := o.Account().Open(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	return noteSeal(ctx, l, place, record)
}
