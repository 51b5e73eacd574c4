package release

// This file prepares a plan to be counted by several machines: its cost is reserved, its key drawn, and the key by
// which rows are counted handed to the machines. The key of the noise stays here.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/engine"
	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/keyfile"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/regular"
	"github.com/dprelease/dprelease/internal/seal"
	"github.com/dprelease/dprelease/internal/state"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/spec"
)

// rowKeyFormat is the format of a file with the row key.
const rowKeyFormat = "dprelease.rowkey/1"

// rowKeyBytes bounds what is read of a file with the row key.
const rowKeyBytes = 1 << 20

// Division says how a plan is counted by several machines.
type Division struct {
	Shards   int  `json:"shards"`    // how many shards there are
	OwnFiles bool `json:"own_files"` // each machine has files of its own, with all rows of their units
	// Spark counts: there are no shards, and the row key is in the job that it runs ([EmitSpark]).
	Spark bool `json:"spark,omitempty"`
}

// rowKey is the file with the key by which machines count the rows of one plan.
type rowKey struct {
	Format   string `json:"format"`
	Release  string `json:"release"`
	PlanHash string `json:"plan_hash"`
	Division
	Answers  seal.PublicKey    `json:"answers"`  // to which the machines seal what they count
	Machines map[string][]byte `json:"machines"` // by public key, the row key sealed to it
}

// RowKeyFile returns the path of the row key of a plan in a folder.
func RowKeyFile(dir string, p *compiled.Compiled) string { return filepath.Join(dir, p.Name+".rowkey") }

// PreparedKeyFile is the file with the row key that a preparation makes for other machines.
type PreparedKeyFile struct {
	File        string // with the row key
	Fingerprint string // of the file
}

// refusePreparing returns an error about the preparation of a plan.
func refusePreparing(p *compiled.Compiled, why string) error {
	plan := "the plan of " + p.Name
	return &verdict.Unusable{File: plan, Err: errors.New(plan + " " + why)}
}

// preparationMismatch returns the error for a plan that is counted here although it was prepared for other machines, or
// the reverse.
func preparationMismatch(p *compiled.Compiled, prepared bool) error {
	if prepared && engine.HasSpark(p.Release()) {
		return refusePreparing(p, "was prepared to be counted by Spark: give the folder of the job that it has run "+
			"(--counted DIR), or take that back (dprelease prepare --cancel)")
	}
	why := "was not prepared with this ledger and state directory: run dprelease prepare before the machines or " +
		"Spark count, and measure with the same --ledger, --state and --out"
	if prepared {
		why = "was prepared to be counted by other machines: give the folder with what they have counted " +
			"(--from-shards DIR), or take that back (dprelease prepare --cancel)"
	}
	return refusePreparing(p, why)
}

// Prepare reserves the plan's cost, draws its key, and seals the row key for the machines, in out/NAME.rowkey. If the
// plan was prepared before, with the same division, the same key is sealed once more. A plan with a table in Spark is
// prepared for Spark alone: nothing is handed out before [EmitSpark] writes its job.
//
// Contract: the key is durable, and the ledger knows the reservation, before anything is handed out. Of what is handed
// out no noise can be derived ([noise.RowStreams]).
func Prepare(ctx context.Context, p *compiled.Compiled, o Options, d Division,
	machines []seal.PublicKey) (PreparedKeyFile, error) {
	inSpark := engine.HasSpark(p.Release())
	switch {
	case p.Release().Collection != nil:
		return PreparedKeyFile{}, refusePreparing(p, "collects reports, which are counted where they are")
	case p.Release().Holders != nil:
		return PreparedKeyFile{}, refusePreparing(p, "is of several holders, each of which counts its part in one place")
	case inSpark && (d != Division{} || machines != nil):
		return PreparedKeyFile{}, refusePreparing(p, "has a table in Spark, which counts all of its rows: leave out --shards, "+
			"--own-files and --for")
	case p.Resume == spec.Never:
		return PreparedKeyFile{}, refusePreparing(p, "says `resume: never`: its key is not kept, so other machines cannot "+
			"count by it")
	case inSpark:
		d.Spark = true
	case d.Shards < 1 || d.Shards > scan.MostShards:
		return PreparedKeyFile{}, refusePreparing(p, fmt.Sprintf("can be counted in 1 to %d shards: say how many (--shards N)",
			scan.MostShards))
	case len(machines) == 0:
		return PreparedKeyFile{}, refusePreparing(p, "is handed to no machine: name the public key of each (--for FILE)")
	}
	q, err := histogram.QuestionsOf(p.Plan())
	if err != nil {
		return PreparedKeyFile{}, err
	}
	if d.Spark {
		err = engine.CheckSpark(q)
	} else {
		err = scan.CheckShards(q, d.OwnFiles)
	}
	if err != nil {
		return PreparedKeyFile{}, err
	}
	place := MeasuredFolder(o.Out, p.Name)
	if record, err := sealedFor(place, p, o); err != nil {
		return PreparedKeyFile{}, err
	} else if record != nil {
		return PreparedKeyFile{}, refusePreparing(p, "is measured already, in "+place)
	}
	if err := durable.MakeFolder(o.Out, 0o755); err != nil {
		return PreparedKeyFile{}, fmt.Errorf("output folder: %w", err)
	}
	var key noise.Key
	err = o.withState(ctx, p, func(l *ledger.Ledger, charge ledger.Charge, st *state.State) error {
		if debited, err := l.Debited(ctx, charge); err != nil || debited != "" {
			return errors.Join(err, closedSince(debited, charge))
		}
		before := st.HasKeyForOtherMachines()
		if before {
			if err := checkPrepared(p, st, d, machines); err != nil {
				return err
			}
		}
		if err := l.Reserve(ctx, charge); err != nil {
			return err
		}
		if key, err = preparedKey(st, before, d, machines); err != nil && !before {
			err = errors.Join(err, l.Cancel(ctx, charge))
		}
		return err
	})
	if err != nil {
		return PreparedKeyFile{}, err
	}
	streams := noise.NewStreams(key, p.Hash())
	key.Erase()
	defer streams.Erase()
	if d.Spark {
		return PreparedKeyFile{}, nil
	}
	return handOver(p, o, d, machines, streams)
}

// closedSince returns the error of a release that was debited, nil if it was not.
func closedSince(debited string, c ledger.Charge) error {
	if debited == "" {
		return nil
	}
	return &ledger.Closed{Account: c.Account, Release: c.Release, Date: debited}
}

// Cancel takes a preparation back: the reservation is given back, and the key erased. What machines have counted by it
// is of no use from then on.
func Cancel(ctx context.Context, p *compiled.Compiled, o Options) error {
	return o.withState(ctx, p, func(l *ledger.Ledger, charge ledger.Charge, st *state.State) error {
		if debited, err := l.Debited(ctx, charge); err != nil || debited != "" {
			return errors.Join(err, closedSince(debited, charge))
		}
		if !st.HasKeyForOtherMachines() {
			return preparationMismatch(p, false)
		}
		if err := l.Cancel(ctx, charge); err != nil {
			return err
		}
		return errors.Join(st.Clear(), o.removeShards(p))
	})
}

// withState opens the ledger that pays for a plan, and the state of the plan's measurement.
func (o Options) withState(ctx context.Context, p *compiled.Compiled,
	do func(*ledger.Ledger, ledger.Charge, *state.State) error) error {
	l, charge, err := o.openLedger(ctx, p)
	if err != nil {
		return err
	}
	defer l.Close()
	st, _, err := o.openState(ctx, l, charge)
	if err != nil {
		return err
	}
	defer st.Close()
	return do(l, charge, st)
}

// preparation is what the state holds of a preparation.
type preparation struct {
	Division
	Machines []seal.PublicKey `json:"machines"` // to which the row key was sealed
}

// readPreparation reads what the state holds of a preparation.
func readPreparation(st *state.State) (was preparation, err error) {
	r, err := st.Prepared()
	if err == nil {
		defer r.Close()
		err = json.NewDecoder(io.LimitReader(r, rowKeyBytes)).Decode(&was)
	}
	if err != nil {
		return was, fmt.Errorf("state directory: what a preparation has left cannot be read (take the preparation "+
			"back with --cancel): %w", err)
	}
	return was, nil
}

// preparedDivision returns the division that a plan was prepared for.
func preparedDivision(st *state.State) (Division, error) {
	was, err := readPreparation(st)
	return was.Division, err
}

// checkPrepared returns an error if a plan was prepared for something else. Machines may be added, and none left out:
// whoever was handed the row key has it.
func checkPrepared(p *compiled.Compiled, st *state.State, d Division, machines []seal.PublicKey) error {
	was, err := readPreparation(st)
	if err != nil {
		return err
	}
	if was.Division != d {
		return refusePreparing(p, fmt.Sprintf("was prepared before with --shards %d%s: prepare it the same way, or "+
			"take that back first (--cancel)",
			was.Shards, map[bool]string{true: " --own-files"}[was.OwnFiles]))
	}
	for _, m := range was.Machines {
		if !slices.Contains(machines, m) {
			return refusePreparing(p, fmt.Sprintf("was handed before to a machine that is left out now, whose key "+
				"has the fingerprint %s: name it again, or take that back first (--cancel) so that another key is drawn",
				m.Fingerprint()))
		}
	}
	return nil
}

// preparedKey returns the key of a plan that is prepared, which is drawn if the plan was not prepared before, and
// records for whom.
func preparedKey(st *state.State, before bool, d Division, machines []seal.PublicKey) (key noise.Key, err error) {
	if before {
		var there bool
		if key, there, err = st.OldKey(); err == nil && !there {
			err = errors.New("state directory: the key of the preparation is gone: take the preparation back " +
				"(--cancel) and prepare again")
		}
	} else {
		key, err = st.NewKey(true)
	}
	if err != nil {
		return key, err
	}
	return key, st.Prepare(func(w io.Writer) error { return json.NewEncoder(w).Encode(preparation{d, machines}) })
}

// purposeOfRowKey binds a sealed row key to its plan.
func purposeOfRowKey(planHash string) []byte { return []byte("dprelease row key of " + planHash) }

// handOver writes the row key, sealed to each machine.
func handOver(p *compiled.Compiled, o Options, d Division, machines []seal.PublicKey,
	streams *noise.Streams) (PreparedKeyFile, error) {
	answers, err := seal.KeyOf(streams.Collecting())
	if err != nil {
		return PreparedKeyFile{}, err
	}
	file := rowKey{Format: rowKeyFormat, Release: p.Name, PlanHash: p.Hash(), Division: d, Answers: answers.Public(),
		Machines: map[string][]byte{}}
	key := streams.Rows().Key()
	defer key.Erase()
	for _, m := range machines {
		var sealed bytes.Buffer
		w, err := seal.NewWriter(&sealed, m, purposeOfRowKey(p.Hash()))
		if err == nil {
			_, err = w.Write(key.Key[:])
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			return PreparedKeyFile{}, err
		}
		file.Machines[m.String()] = sealed.Bytes()
	}
	text, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return PreparedKeyFile{}, err
	}
	path := RowKeyFile(o.Out, p)
	err = durable.WritePrivate(o.Out, filepath.Base(path)+".making-", filepath.Base(path), func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
	return PreparedKeyFile{File: path, Fingerprint: keyfile.Fingerprint(text)}, err
}

// takeRowKey reads a row key that was handed over, and opens it with the key of this machine. The file must have a
// fingerprint: whoever could replace it would have exact counts sealed to a key of his own.
func takeRowKey(path, fingerprint string, p *compiled.Compiled, machine seal.Key) (rowKey, *noise.RowStreams, error) {
	var file rowKey
	refuse := func(why string) (rowKey, *noise.RowStreams, error) {
		return rowKey{}, nil, &verdict.Unusable{File: path, Err: errors.New(why)}
	}
	text, err := regular.Read(path, rowKeyBytes)
	if err != nil {
		return rowKey{}, nil, &verdict.Unusable{File: path, Err: err}
	}
	if has := keyfile.Fingerprint(text); !sameFingerprint(has, fingerprint) {
		return refuse("has another fingerprint than --fingerprint says: it is not the file that dprelease prepare " +
			"wrote. Ask whoever prepared the plan for file and fingerprint")
	}
	if err := json.Unmarshal(text, &file); err != nil || file.Format != rowKeyFormat {
		return refuse("is no row key that this version reads; expected " + rowKeyFormat)
	}
	if file.PlanHash != p.Hash() {
		return refuse("is the row key of another plan")
	}
	sealed, ok := file.Machines[machine.Public().String()]
	if !ok {
		return refuse("was not sealed for this machine: have its public key named (dprelease prepare --for)")
	}
	r, err := seal.NewReader(bytes.NewReader(sealed), machine, purposeOfRowKey(p.Hash()))
	if err != nil {
		return rowKey{}, nil, &verdict.Unusable{File: path, Err: err}
	}
	var key noise.RowKey
	defer key.Erase()
	opened, err := io.ReadAll(io.LimitReader(r, int64(len(key.Key))+1))
	defer clear(opened)
	if err != nil || len(opened) != len(key.Key) {
		return rowKey{}, nil, &verdict.Unusable{File: path, Err: seal.ErrOpen}
	}
	copy(key.Key[:], opened)
	return file, noise.NewRowStreams(key, p.Hash()), nil
}

// sameFingerprint compares fingerprints as people write them: spaces and capital letters do not matter.
func sameFingerprint(a, b string) bool {
	plain := func(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), "")) }
	return plain(a) != "" && plain(a) == plain(b)
}
