package ledger

import (
	"bytes"
	"context"
	"errors"
	"os"
	"testing"

	"github.com/dprelease/dprelease/budget/sign"
)

// signedAt opens a ledger with a key.
func signedAt(t testing.TB, place string, key *sign.Key) *Ledger {
	t.Helper()
	l, err := Open(context.Background(), place, OpenOptions{Office: key})
	must(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

// Somebody without the key replaces the signed ledger, which is spent, by an unsigned ledger with an unused cap.
func TestAnUnsignedLedgerInThePlaceOfASignedOne(t *testing.T) {
	ctx := context.Background()
	key := newKey(t)
	l := signedAt(t, t.TempDir()+"/ledger.db", &key)
	place := l.store.(*file).path
	must(t, l.Init(ctx, capped("1")))
	debit(t, l, charge("a", "aa", "1"))
	must(t, l.Close())
	must(t, os.Remove(place))
	fake := freshAt(t, place, "1")
	debit(t, fake, charge("a", "aa", "1"))
	must(t, fake.Close())

	l = signedAt(t, place, &key)
	_, again := l.Debit(ctx, charge("a", "aa", "1"))
	_, next := l.Debit(ctx, charge("b", "bb", "1"))
	for what, err := range map[string]error{"Init": l.Init(ctx, capped("1")),
		"Reserve": l.Reserve(ctx, charge("b", "bb", "1")), "Debit again": again, "Debit": next,
		"Finish": l.Finish(ctx, charge("a", "aa", "1"), hash("5e")),
		"Grant":  l.Grant(ctx, Grant{Account: "people", Amount: epsilon("1"), Reason: "More."})} {
		var wrong *WrongKey
		if !errors.As(err, &wrong) || !wrong.Needed.IsZero() || wrong.Given != key.Public() {
			t.Errorf("%s with a key on a ledger that is not signed: %v; want *WrongKey", what, err)
		}
	}
	if n := l.entries(t); n != 3 {
		t.Errorf("%d entries; want the 3 that were there", n)
	}
}

func TestOnlyTheTrustedLedgerIsRead(t *testing.T) {
	atEveryPlace(t, func(t *testing.T, place string) {
		ctx := context.Background()
		key, other := newKey(t), newKey(t)
		must(t, signedAt(t, place, &key).Init(ctx, capped("1")))
		unsigned, _ := fresh(t, "1")
		trusted := func(l *Ledger, key sign.Key) *Ledger {
			return &Ledger{store: l.store, trust: key.Public(),
				now: l.now}
		}
		right := trusted(openAt(t, place), key)
		must(t, right.Verify(ctx))
		show(t, right)
		for says, l := range map[string]*Ledger{"is signed by another key (fingerprint " +
			key.Public().Fingerprint(): trusted(openAt(t, place), other),
			"is not signed": trusted(unsigned, key)} {
			_, showErr := l.Show(ctx, "people")
			_, accountsErr := l.Accounts(ctx)
			_, historyErr := l.History(ctx, "")
			for what, err := range map[string]error{"Verify": l.Verify(ctx), "Show": showErr, "Accounts": accountsErr,
				"History": historyErr, "Export": l.Export(ctx, &bytes.Buffer{})} {
				if !errors.Is(err, ErrTampered) {
					t.Errorf("%s: %v; want ErrTampered", what, err)
				}
				assertSays(t, err, says, "the trusted key has the fingerprint "+l.trust.Fingerprint())
			}
		}
	})
}
