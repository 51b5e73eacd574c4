package release

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/dprelease/dprelease/internal/progress"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/parallel"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/maker"
	"github.com/dprelease/dprelease/report/page"
	"github.com/dprelease/dprelease/synth"
)

// Publish derives tables, report and manifest from a sealed folder and moves
// them to out/NAME, or to out/NAME-rN for a later revision. It reads nothing else,
// spends nothing, and gives the same bytes every time: where its place holds them
// already, that is success. With an office key the manifest is signed, and with a
// ledger it must have paid for the measurements.
//
// Errors: *[verdict.Unusable] where there is no such folder, or no publication that a
// revision replaces; *[BrokenSeal] where it is not as it was sealed; *[Occupied]
// where its place holds something else; *[published.Altered] where it holds this release,
// changed.
func Publish(ctx context.Context, sealedDir string, o Options) (Result, error) {
	if err := isSealed(sealedDir); err != nil {
		return Result{}, &verdict.Unusable{File: sealedDir, Err: err}
	}
	s, record, err := openSealed(sealedDir, o.Revision.Number > 1)
	if err != nil {
		return Result{}, err
	}
	if err := o.paid(ctx, sealedDir, record); err != nil {
		return Result{}, err
	}
	rows, err := published.ParseRows(s.Plan, o.Rows)
	if err != nil {
		return Result{}, err
	}
	methods, err := published.ParseMethods(s.Plan, o.Methods)
	if err != nil {
		return Result{}, err
	}
	m, err := o.Revision.manifest(o.Out, s)
	if err != nil {
		return Result{}, err
	}
	m.Rows, m.Methods = rows, methods
	result := Result{Place: o.Revision.place(o.Out, s.Plan.Name), Status: published.StatusText(record.Status), Signature: Unsigned}
	out, err := stage(o.Out, filepath.Base(result.Place))
	if err != nil {
		return result, err
	}
	defer out.discard()
	out.progress, out.step = o.Progress, o.step
	if err := writeRelease(ctx, out, s, record, m, modules()); err != nil {
		return result, err
	}
	if o.Office != nil {
		if err := signManifest(out.dir, *o.Office); err != nil {
			return result, err
		}
		result.Signature = SignedNow
	}
	there, err := durable.Exists(result.Place)
	if err == nil && !there {
		if err = out.commit(); err == nil {
			o.logger().Info("release published", "folder", result.Place)
			return result, nil
		}
		there, _ = durable.Exists(result.Place) // another process was there first
	}
	if there {
		err = compare(out.dir, result.Place, s.Plan.Hash(), rows, methods)
	}
	if there && err == nil {
		result.Signature, err = out.lendSignature(result.Signature == SignedNow)
	}
	result.Already = err == nil
	return result, err
}

// isSealed returns an error for what cannot be a folder of measurements, with what it is instead.
func isSealed(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if there, err := durable.Exists(filepath.Join(dir, measured.SealFile)); err != nil || there {
		return err
	}
	what := "the folder NAME.measured is needed, which `dprelease measure` and `dprelease run` write"
	if there, err := durable.Exists(MeasuredFolder(filepath.Dir(dir), filepath.Base(dir))); err == nil && there {
		what = fmt.Sprintf("the measurements of this release are in %s", MeasuredFolder(filepath.Dir(dir), filepath.Base(dir)))
	}
	if !info.IsDir() {
		return fmt.Errorf("this is a file, and not a folder of measurements: %s", what)
	}
	if there, err := durable.Exists(filepath.Join(dir, published.ManifestFile)); err == nil && there {
		return fmt.Errorf("this is a published release, and not a folder of measurements: %s", what)
	}
	return fmt.Errorf("this is not a folder of measurements: %s", what)
}

// lendSignature signs the place, which is there already and as what is staged, by the staged signature where one was made.
func (s *staging) lendSignature(made bool) (Signature, error) {
	before, err := durable.Exists(filepath.Join(s.place, published.SignatureFile))
	switch {
	case err != nil:
		return Unsigned, err
	case !made && before:
		return SignedBefore, nil
	case !made:
		return Unsigned, nil
	case !before:
		return SignatureAdded, s.lend(published.SignatureFile)
	}
	same, err := published.EqualFiles(filepath.Join(s.dir, published.SignatureFile), filepath.Join(s.place, published.SignatureFile))
	if err != nil || same {
		return SignedBefore, err
	}
	return SignatureReplaced, s.lend(published.SignatureFile)
}

// openSealed opens a folder of measurements whole: every file as it was sealed,
// the plan what its spec leads to, the receipt that of the plan. With older, the
// plan may be one that another version made, and that was held against its spec
// before its debit: the receipt is for its hash. Errors: *[BrokenSeal].
func openSealed(dir string, older bool) (*measured.Sealed, ledger.Record, error) {
	var record ledger.Record
	s, err := measured.Open(dir)
	if err == nil && !older {
		err = planner.Verify(s.Plan.Plan)
	}
	if err == nil {
		record, err = recordIn(s)
	}
	if err != nil {
		return nil, record, &BrokenSeal{Err: fmt.Errorf("%s: %w", dir, err)}
	}
	return s, record, nil
}

// recordIn is the receipt of a sealed folder, which must be that of its plan and
// of its measurements.
func recordIn(s *measured.Sealed) (ledger.Record, error) {
	var record ledger.Record
	if err := json.Unmarshal(s.Receipt, &record); err != nil {
		return record, fmt.Errorf("%s: %w", measured.ReceiptFile, err)
	}
	again, err := published.EncodeRecord(record)
	switch {
	case err != nil:
		return record, err
	case !bytes.Equal(again, s.Receipt):
		return record, fmt.Errorf("%s is not as the ledger writes receipts", measured.ReceiptFile)
	case record.PlanHash != s.Plan.Hash() || record.Release != s.Plan.Name || record.Terms != terms(s.Plan):
		return record, fmt.Errorf("%s is the receipt of another plan", measured.ReceiptFile)
	case s.Status != published.StatusText(record.Status):
		return record, fmt.Errorf("%s is of another status than the measurements", measured.ReceiptFile)
	}
	if err := record.Check(); err != nil {
		return record, fmt.Errorf("%s: %w", measured.ReceiptFile, err)
	}
	return record, nil
}

// writeRelease fills the staging folder with everything that is published; m says
// which publication it is, and built what the program was built from.
func writeRelease(ctx context.Context, out *staging, s *measured.Sealed, record ledger.Record, m published.Manifest, built []report.Module) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	out.begins("putting together %s", budget.Plural(int64(len(s.Plan.Tables)), "table"))
	metadata := releaseMetadata(s.Plan, record.Status)
	tables, err := synth.Estimate(s)
	if err != nil {
		return err
	}
	microdata, err := writeMicrodata(ctx, out, s, m, metadata)
	if err != nil {
		return err
	}
	if len(s.Plan.Consistent) > 0 {
		out.begins("making the counts of tables add up")
		err := histogram.CheckBytes(synth.ConsistentBytes(s.Plan.Plan))
		if err == nil {
			err = synth.Consistent(ctx, s, tables, microdata)
		}
		if err != nil {
			return err
		}
	}
	var pages []paper
	err = parallel.Both(func() (err error) {
		pages, err = papers(s, tables, microdata, record, built)
		return err
	}, func() error {
		return writeTables(ctx, out, s, tables, metadata)
	})
	if err != nil {
		return err
	}
	out.begins("writing the report")
	for _, p := range pages {
		if err := out.write(p.name, p.text); err != nil {
			return err
		}
	}
	if err := writeManifest(out, s.Plan, record, m); err != nil {
		return err
	}
	return out.settle()
}

// writeTables writes the Parquet files of the tables, and the measurements as they were drawn.
func writeTables(ctx context.Context, out *staging, s *measured.Sealed, tables []synth.Table, metadata [][2]string) error {
	rows := int64(0)
	for _, t := range tables {
		rows += int64(t.Cells)
	}
	out.begins("writing %s", budget.Plural(int64(len(tables)), "table"))
	part := 0
	var tell func(progress.Progress)
	if out.progress != nil {
		tell = func(p progress.Progress) {
			p.Part, p.Parts = part, len(tables)
			out.progress(p)
		}
	}
	wrote := progress.Writing("tables", rows, tell)
	for i, t := range tables {
		part = i + 1
		if err := ctx.Err(); err != nil {
			return err
		}
		b, err := encodeTable(ctx, t, s.Plan.Tables[i], s.Plan.Guarantee.Protects, metadata, wrote)
		if err != nil {
			return fmt.Errorf("table %s: %w", t.Path, err)
		}
		if err := out.write(s.Plan.Tables[i].File(), b); err != nil {
			return err
		}
	}
	return s.Drawn(func(name string, b []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return out.write(name, b)
	})
}

// writeMicrodata draws and writes the microdata of every method, in the plan's order, as
// the publication asks. What it returns of several files are the rows of the first, and
// how far all lie from each other.
func writeMicrodata(ctx context.Context, out *staging, s *measured.Sealed, asks published.Manifest, metadata [][2]string) ([]synth.Microdata, error) {
	var all []synth.Microdata
	for i, method := range s.Plan.Synthetic {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out.begins("fitting a model of the microdata of %s", method.Table)
		asked := synth.Asked{Rows: asks.Rows[method.Table], Method: asks.Methods[method.Table], Before: all}
		need, err := synth.Bytes(ctx, s, i, asked)
		if err == nil {
			err = histogram.CheckBytes(need)
		}
		if err != nil {
			return nil, fmt.Errorf("microdata of %s: %w", method.Table, err)
		}
		d, err := synth.NewDrawing(ctx, s, i, asked)
		if err != nil {
			return nil, err
		}
		first, err := writeFiles(ctx, out, d, method.Table, published.MicrodataFiles(method), s.Plan.LinkedBy(method), metadata)
		if err != nil {
			return nil, fmt.Errorf("microdata of %s: %w", method.Table, err)
		}
		all = append(all, first)
	}
	return all, nil
}

// writeFiles draws and writes the files of one model of a table's rows.
func writeFiles(ctx context.Context, out *staging, d *synth.Drawing, table string, names []string, linked string, metadata [][2]string) (first synth.Microdata, err error) {
	for i, name := range names {
		if err := ctx.Err(); err != nil {
			return first, err
		}
		if len(names) > 1 {
			out.begins("drawing file %d of %d of the microdata of %s", i+1, len(names), table)
		} else {
			out.begins("drawing the microdata of %s", table)
		}
		m, err := d.Draw(ctx, i+1)
		if err != nil {
			return first, err
		}
		b, err := encodeMicrodata(ctx, m, linked, metadata, progress.Writing("microdata of "+m.Table, int64(m.Rows), out.progress))
		if err == nil {
			err = out.write(name, b)
		}
		if err != nil {
			return first, err
		}
		if i == 0 {
			first = m
		}
	}
	d.Spread(first.Fits)
	return first, nil
}

// paper is a file of a release that is neither a table nor microdata.
type paper struct {
	name string // within the release
	text []byte
}

// papers are the plan, its approvals, the ledger's proof, the bill of materials, the report and the readme.
func papers(s *measured.Sealed, tables []synth.Table, microdata []synth.Microdata, record ledger.Record, built []report.Module) ([]paper, error) {
	r, err := maker.New(maker.Input{Plan: s.Plan.Plan, Tables: tables, Microdata: microdata, Receipt: s.Receipt, Software: Software, Modules: built, Approvals: reported(record.Approvals)})
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	html, err := page.HTML(r)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	materials, err := encodeBill(Software, built)
	if err != nil {
		return nil, err
	}
	out := []paper{
		{measured.PlanFile, s.Plan.Bytes()},
		{published.ProofFile, s.Receipt},
		{published.BillFile, materials},
		{published.ReportFile, r.JSON()},
		{"report.html", html},
		{"report.md", page.Markdown(r)},
		{"README.txt", page.Readme(r)},
	}
	if len(record.Approvals) > 0 {
		b, err := published.Indented(record.Approvals)
		if err != nil {
			return nil, err
		}
		out = append(out, paper{published.ApprovalsFile, b})
	}
	return out, nil
}

// reported are the approvals of a release as its report tells of them.
func reported(all []ledger.Approval) []report.Approval {
	var out []report.Approval
	for _, a := range all {
		one := report.Approval{Role: a.Role, Statement: a.Statement, Signer: a.Signer.String(), Fingerprint: a.Signer.Fingerprint()}
		if a.Standing != nil {
			one.Until = a.Standing.Until
		}
		out = append(out, one)
	}
	return out
}

// compare holds a folder that was published before against what its
// measurements lead to now: equal, but for the signature of the manifest, is
// success.
func compare(staged, place, planHash string, rows published.RowsAsked, methods published.MethodsAsked) error {
	m, err := published.ReadManifest(place)
	if err != nil || m.PlanHash != planHash {
		return occupied(place, err)
	}
	if m.Software != Software {
		return &Occupied{Place: place, Why: fmt.Sprintf("was published by %s, and this is %s: what they write may differ; publish a revision beside it (--revision 2 --reason TEXT)", m.Software, Software)}
	}
	if !maps.Equal(m.Rows, rows) {
		return &Occupied{Place: place, Why: fmt.Sprintf("was published with %s, and this asks for %s: ask for the same, or publish a revision beside it (--revision %d --reason TEXT)", m.Rows, rows, max(m.Revision, 1)+1)}
	}
	if !maps.Equal(m.Methods, methods) {
		return &Occupied{Place: place, Why: fmt.Sprintf("was published with %s, and this asks for %s: ask for the same, or publish a revision beside it (--revision %d --reason TEXT)", m.Methods, methods, max(m.Revision, 1)+1)}
	}
	want, err := published.Files(staged)
	if err != nil {
		return err
	}
	for _, name := range want {
		if name == published.SignatureFile {
			continue
		}
		same, err := published.EqualFiles(filepath.Join(staged, filepath.FromSlash(name)), filepath.Join(place, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		if !same {
			return &published.Altered{Place: place, File: name}
		}
	}
	dir, err := published.Resolve(place)
	if err != nil {
		return err
	}
	return m.Strangers(dir, func(name, _ string) error { return &published.Altered{Place: place, File: name} })
}

// occupied is the refusal to write over something else.
func occupied(place string, err error) error {
	if unread := new(fs.PathError); errors.As(err, &unread) && !published.Missing(err) {
		return err
	}
	if err != nil {
		return &Occupied{Place: place, Why: "holds something else than a release"}
	}
	return &Occupied{Place: place, Why: "holds a release of another plan"}
}
