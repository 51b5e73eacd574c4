package release

// This file holds what a holder signs: that it takes part, or that it withdraws.

import (
	"context"
	"errors"
	"fmt"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/histogram/holder"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/state"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan/compiled"
)

// Signed is what a holder has signed.
type Signed struct {
	Holder string
	Path   string
	Roll   holder.Roll // of those who take part
}

// holderOf returns the holder of a roll that has a key.
func holderOf(p *compiled.Compiled, roll holder.Roll, key holder.Key) (string, error) {
	for _, name := range roll.Holders {
		if roll.Keys[name] == key.Public() {
			return name, nil
		}
	}
	return "", refuseHolder(p, fmt.Sprintf("has no holder with this key, whose fingerprint is %s",
		key.Public().Fingerprint()))
}

// SignRoll signs the roll of a plan with the key in a file, and writes the signature to out/NAME.HOLDER.roll. The
// signature says that the holder takes part in the sum by this plan with these others: all holders of the plan, but for
// those whose withdrawals are in the folder. With anew, it is for another draw than before.
func SignRoll(ctx context.Context, p *compiled.Compiled, keyFile, out string, anew bool) (Signed, error) {
	key, err := holder.ReadKey(keyFile)
	if err != nil {
		return Signed{}, &verdict.Unusable{File: keyFile, Err: err}
	}
	with, err := participationIn(p, out)
	if err != nil {
		return Signed{}, err
	}
	name, err := holderOf(p, with.roll, key)
	if err != nil {
		return Signed{}, err
	}
	nonce, err := bookOf(keyFile, key).nonce(ctx, p, anew)
	if err != nil {
		return Signed{}, err
	}
	signature, err := with.roll.Sign(key, name, nonce)
	if err != nil {
		return Signed{}, err
	}
	path, err := writeSignature(p, out, signatureFile{rollFormat, p.Name, name, with.roll.Hash(), nonce, signature})
	return Signed{name, path, with.roll}, err
}

// Withdraw signs that a holder takes no part in the sum of a plan, and writes the signature to
// out/NAME.HOLDER.withdrawn. From then on nothing is measured by this plan with this key.
//
// Contract: the key's book knows no draw for the plan, and it is durable that there never will be one, before anything
// is signed. Two sums with and without the holder's share would differ by its answer.
func Withdraw(ctx context.Context, p *compiled.Compiled, o Options, keyFile string) (Signed, error) {
	key, err := holder.ReadKey(keyFile)
	if err != nil {
		return Signed{}, &verdict.Unusable{File: keyFile, Err: err}
	}
	all, err := RollOf(p)
	if err != nil {
		return Signed{}, err
	}
	name, err := holderOf(p, all, key)
	if err != nil {
		return Signed{}, err
	}
	if there, err := durable.Exists(ShareFolder(o.Out, p.Name, name)); err != nil || there {
		return Signed{}, errors.Join(err,
			refuseHolder(p, "was measured by "+name+", whose share lies in "+ShareFolder(o.Out, p.Name, name)))
	}
	if err := o.cancelUndebited(ctx, p, name); err != nil {
		return Signed{}, err
	}
	if err := bookOf(keyFile, key).withdraw(ctx, p); err != nil { // last: it cannot be taken back
		return Signed{}, err
	}
	signature, err := all.SignWithdrawal(key, name)
	if err != nil {
		return Signed{}, err
	}
	path, err := writeSignature(p, o.Out, signatureFile{withdrawalFormat, p.Name, name, all.Hash(), nil, signature})
	return Signed{name, path, all}, err
}

// cancelUndebited gives back what a run has reserved for a plan. It returns an error if the plan was debited.
func (o Options) cancelUndebited(ctx context.Context, p *compiled.Compiled, name string) error {
	return o.withState(ctx, p, func(l *ledger.Ledger, charge ledger.Charge, _ *state.State) error {
		debited, err := l.Debited(ctx, charge)
		if err == nil && debited != "" {
			err = refuseHolder(p, fmt.Sprintf("was debited for %s on %s: its share may have left, so it cannot be "+
				"taken back. Give up the release, and make another one",
				name, debited))
		}
		if err != nil {
			return err
		}
		return l.Cancel(ctx, charge)
	})
}
