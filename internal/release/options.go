package release

import (
	"cmp"
	"log/slog"
	"path/filepath"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/budget/sign"
	"github.com/dprelease/dprelease/histogram/holder"
	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/internal/account"
	"github.com/dprelease/dprelease/internal/memory"
	"github.com/dprelease/dprelease/plan/compiled"
)

// Garbage is the percentage by which the heap of a release may grow before the garbage collector runs. Counts are most
// of the heap, and every step makes new ones. Half of Go's default costs a tenth of the running time.
const Garbage = 50

// Ballast is the size of an allocation, in bytes, that the program keeps and never touches. [Garbage] is a share of it
// too, so that a release with a small heap is not collected all the time. It saves a fifth of the processor time for
// 32 MB more memory.
const Ballast = 64 << 20

// Options configure a step: its folders, its ledger and its keys.
type Options struct {
	Out       string    // folder for all outputs
	Data      string    // base folder of relative source paths
	Ledger    string    // the ledger, a file or postgres://…; empty: a practice account in the state directory
	State     string    // confidential state directory; empty: .dprelease below Out
	Approvals string    // folder with approvals of plans; empty: none
	Office    *sign.Key // signs the ledger's entries and the manifest; nil: nothing is signed
	Trust     string    // file of the public key that must sign the ledger; empty: anybody's is read
	Today     string    // today's date as a person confirms it, for an entry long after the last one; empty: none
	Revision  Revision  // which publication of the measurements Publish makes
	// Holder says for which of several holders Measure measures; nil: the data are in one place.
	Holder *Holder
	// FromShards is a folder with what other machines have counted of a plan that was prepared for them; empty: the
	// tables are counted here
	FromShards string
	// FromSpark is a folder with what Spark has counted of a plan that was prepared for it; empty: nothing was
	FromSpark string
	Words     string   // file of words that Publish uses instead of the sealed ones; empty: none
	Rows      []string // N or TABLE=N: rows of microdata that Publish draws instead of the plan's number
	// METHOD or TABLE=METHOD: how Publish fits the model of microdata instead of by the plan's method
	Methods []string
	Memory  int64 // bytes that counting may use; 0: half of the machine's memory
	Log     *slog.Logger
}

// Holder says for which of several holders a plan is measured.
type Holder struct {
	Name string
	Key  holder.Key
	// KeyFile is the file of the key, next to which its book is.
	KeyFile string
	// Roll is the folder with the signatures of all holders under the roll ([SignRoll]).
	Roll string
	// Rounds is the folder in which all holders give each other their answers to the rounds of additive models; empty:
	// the plan must have none.
	Rounds string
}

// scanOptions returns the options of counting.
func (o Options) scanOptions() scan.Options {
	return scan.Options{MemoryLimit: o.Memory}
}

// checkMemory refuses a plan that cannot be measured in the available memory, before anything is read or reserved.
func (o Options) checkMemory(p *compiled.Compiled) error {
	return memory.Check(memory.Bytes(p.Plan()), memory.Available(o.Memory))
}

// Account returns the configured ledger.
func (o Options) Account() account.Ledger {
	return account.Ledger{Path: o.Ledger, Trust: o.Trust, Office: o.Office, Today: o.Today, Approvals: o.Approvals}
}

func (o Options) StateDir() string {
	return cmp.Or(o.State, filepath.Join(o.Out, ".dprelease"))
}

func (o Options) logger() *slog.Logger {
	return cmp.Or(o.Log, slog.New(slog.DiscardHandler))
}

// checkStatus refuses measurements drawn on a practice account if a ledger is configured, which should pay for them.
func (o Options) checkStatus(place string, status ledger.Status) error {
	if o.Ledger != "" && status == ledger.Practice {
		return &Occupied{Folder: place,
			Why:    "was drawn on a practice account, and a ledger is configured now",
			Remedy: "delete it (practice is not for publication) to have the release drawn anew"}
	}
	return nil
}
