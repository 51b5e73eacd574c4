package release

import (
	"cmp"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/budget/sign"
	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/internal/account"
	"github.com/dprelease/dprelease/internal/memory"
	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/plan/compiled"
)

// Garbage is how much of the memory that a release holds may be added to it before what is no longer held is given
// back, in percent: counts are most of it, and are made anew at every step. Half of what Go does by itself costs a
// tenth of the time.
const Garbage = 50

// Ballast is how many bytes the program holds besides, and never touches: [Garbage] is a share of these too, so that a
// release that holds little is not searched for garbage all the time. It takes a fifth less processor time for it, and
// 32 MB more memory.
const Ballast = 64 << 20

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
	Rows      []string  // N or TABLE=N: how many rows of microdata Publish draws, where not as many as the plan says
	// METHOD or TABLE=METHOD: by which Publish makes the model of microdata, where not by that of the plan
	Methods []string
	Memory  int64 // bytes that counting may take; 0: half of what the machine has
	Log     *slog.Logger

	// Progress, where not nil, is told how far reading is, and writing. That is confidential: it may be shown to who runs
	// the release, and is written nowhere.
	Progress func(progress.Progress)

	// Step, where not nil, is told when a step begins. What it is told is a function of the plan alone, so that it may be
	// written anywhere; how long steps last may be confidential.
	Step func(text string)
}

// step says that a step begins.
func (o Options) step(format string, args ...any) {
	if o.Step != nil {
		o.Step(fmt.Sprintf(format, args...))
	}
}

// counting is what of the options is for counting.
func (o Options) counting() scan.Options {
	return scan.Options{MemoryLimit: o.Memory, Progress: o.Progress}
}

// checkMemory refuses a plan that cannot be measured in the memory that there is for it, before anything is read or
// reserved.
func (o Options) checkMemory(p *compiled.Compiled) error {
	return memory.Check(memory.Bytes(p.Plan()), memory.Available(o.Memory))
}

// Account is the configured ledger.
func (o Options) Account() account.Ledger {
	return account.Ledger{Path: o.Ledger, Trust: o.Trust, Office: o.Office, Today: o.Today, Approvals: o.Approvals}
}

func (o Options) StateDir() string {
	return cmp.Or(o.State, filepath.Join(o.Out, ".dprelease"))
}

func (o Options) logger() *slog.Logger {
	return cmp.Or(o.Log, slog.New(slog.DiscardHandler))
}

// accepts refuses to take what was drawn on a practice account for what the
// configured ledger should pay for.
func (o Options) accepts(place string, status ledger.Status) error {
	if o.Ledger != "" && status == ledger.Practice {
		return &Occupied{Place: place,
			Why: "was drawn on a practice account, and a ledger is configured now: move it away to have the release drawn anew"}
	}
	return nil
}
