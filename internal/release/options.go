package release

import (
	"log/slog"
	"path/filepath"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/sign"
)

// Options say where a step works.
type Options struct {
	Out       string    // folder that every output is written below
	Data      string    // folder that relative source paths start from
	Ledger    string    // the ledger, a file or postgres://…; empty: a practice account in the state directory
	State     string    // confidential state directory; empty: .dprelease below Out
	Approvals string    // folder in which approvals of plans lie; empty: none
	Office    *sign.Key // signs the ledger's entries and the manifest; nil: nothing is signed
	Trust     string    // file of the public key that must sign the ledger; empty: anybody's is read
	Today     string    // a day that a person vouches has come, for an entry long after the last one; empty: none
	Revision  Revision  // which publication of the measurements Publish makes
	Log       *slog.Logger
}

func (o Options) stateDir() string {
	if o.State != "" {
		return o.State
	}
	return filepath.Join(o.Out, ".dprelease")
}

func (o Options) logger() *slog.Logger {
	if o.Log != nil {
		return o.Log
	}
	return slog.New(slog.DiscardHandler)
}

// accepts refuses to take what was drawn on a practice account for what the
// configured ledger should pay for.
func (o Options) accepts(place string, status ledger.Status) error {
	if o.Ledger != "" && status == ledger.Practice {
		return &Occupied{Place: place, Why: "was drawn on a practice account, and a ledger is configured now: move it away to have the release drawn anew"}
	}
	return nil
}
