// Package derive computes everything that is published from sealed measurements: tables, microdata, report, pages, bill
// of materials and manifest, with equal bytes from equal measurements. Publishing, rehearsing and verifying all use it.
// It makes nothing durable, signs nothing and reads no confidential byte.
package derive

import (
	"context"
	"fmt"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/canonical"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/memory"
	"github.com/dprelease/dprelease/internal/parallel"
	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/maker"
	"github.com/dprelease/dprelease/report/page"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/synth"
)

// Release fills a folder with everything that is published from sealed measurements and the record of their debit; m
// says which publication it is, and built lists the modules of the program.
func Release(ctx context.Context, out *Folder, s *measured.Sealed, record ledger.Record, m published.Manifest,
	built []report.Module) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	progress.Begin(ctx, 0, "estimating %s", budget.Plural(int64(len(s.Plan.Tables)), "table"))
	metadata := Metadata(s.Plan, record.Status)
	tables, err := synth.Estimate(s)
	if err != nil {
		return err
	}
	microdata, err := writeMicrodata(ctx, out, s, m, metadata)
	if err != nil {
		return err
	}
	models, err := writeModels(ctx, out, s)
	if err != nil {
		return err
	}
	if len(s.Plan.Consistent) > 0 {
		err := memory.Check(synth.ConsistentBytes(s.Plan.Plan()), memory.Available(0))
		if err == nil {
			err = synth.Consistent(ctx, s, tables, microdata)
		}
		if err != nil {
			return err
		}
	}
	var pages []document
	err = parallel.Both(func() (err error) {
		pages, err = documentsOf(s, tables, microdata, models, record, built)
		return err
	}, func() error {
		return writeTables(ctx, out, s, tables, metadata)
	})
	if err != nil {
		return err
	}
	progress.Begin(ctx, 0, "writing the report")
	for _, p := range pages {
		if err := out.Write(p.name, p.text); err != nil {
			return err
		}
	}
	if err := writeManifest(out, s.Plan, record, m); err != nil {
		return err
	}
	return out.Wait()
}

// writeTables writes the Parquet files of the tables, and the measurements as they were drawn.
func writeTables(ctx context.Context, out *Folder, s *measured.Sealed, tables []synth.Table,
	metadata [][2]string) error {
	rows := int64(0)
	for _, t := range tables {
		rows += int64(t.Cells)
	}
	ctx = progress.Begin(ctx, rows, "writing %s", budget.Plural(int64(len(tables)), "table"))
	for i, t := range tables {
		progress.Rename(ctx, "writing %d of %s", i+1, budget.Plural(int64(len(tables)), "table"))
		if err := ctx.Err(); err != nil {
			return err
		}
		b, err := Table(ctx, s.Plan, t, s.Plan.Tables[i], metadata)
		if err != nil {
			return fmt.Errorf("table %s: %w", t.Path, err)
		}
		if err := out.Write(s.Plan.Tables[i].File(), b); err != nil {
			return err
		}
	}
	return s.Drawn(func(name string, b []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return out.Write(name, b)
	})
}

// writeMicrodata draws and writes the microdata of every method, in the plan's order, as the publication asks. If a
// method has several files it returns the rows of the first, and the spread of all.
func writeMicrodata(ctx context.Context, out *Folder, s *measured.Sealed, asks published.Manifest,
	metadata [][2]string) ([]synth.Microdata, error) {
	var all []synth.Microdata
	for i, method := range s.Plan.Synthetic {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		asked := synth.Request{Rows: asks.Rows[method.Table], Method: asks.Methods[method.Table], EarlierMicrodata: all}
		need, err := synth.Bytes(ctx, s, i, asked)
		if err == nil {
			err = memory.Check(need, memory.Available(0))
		}
		if err != nil {
			return nil, fmt.Errorf("microdata of %s: %w", method.Table, err)
		}
		d, err := synth.NewDrawing(ctx, s, i, asked)
		if err != nil {
			return nil, err
		}
		first, err := writeFiles(ctx, out, d, s.Plan.Release(), method.Table, published.MicrodataFiles(method),
			metadata)
		if err != nil {
			return nil, fmt.Errorf("microdata of %s: %w", method.Table, err)
		}
		all = append(all, first)
	}
	return all, nil
}

// writeFiles draws and writes the files of one model of a table's rows.
func writeFiles(ctx context.Context, out *Folder, d *synth.Drawing, r *spec.Release, table string, names []string,
	metadata [][2]string) (first synth.Microdata, err error) {
	for i, name := range names {
		if err := ctx.Err(); err != nil {
			return first, err
		}
		what := "the microdata of " + table
		if len(names) > 1 {
			what = fmt.Sprintf("file %d of %d of %s", i+1, len(names), what)
		}
		progress.Begin(ctx, 0, "drawing %s", what)
		m, err := d.Draw(ctx, i+1)
		if err != nil {
			return first, err
		}
		b, err := encodeMicrodata(progress.Begin(ctx, int64(m.Rows), "writing %s", what), r, m, metadata)
		if err == nil {
			err = out.Write(name, b)
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

// document is a file of a release that is neither a table nor microdata.
type document struct {
	name string // within the release
	text []byte
}

// documentsOf returns the plan, its approvals, the ledger's proof, the bill of materials, the report and the readme.
func documentsOf(s *measured.Sealed, tables []synth.Table, microdata []synth.Microdata, models []maker.Model,
	record ledger.Record, built []report.Module) ([]document, error) {
	r, err := maker.New(maker.Input{Plan: s.Plan, Tables: tables, Microdata: microdata, Models: models,
		Receipt: s.Receipt, Software: published.Software, Modules: built,
		Approvals: reportedApprovals(record.Approvals)})
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	html, err := page.HTML(r)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	materials, err := encodeBill(published.Software, built)
	if err != nil {
		return nil, err
	}
	out := []document{
		{measured.PlanFile, s.Plan.Bytes()},
		{measured.WordsFile, s.Plan.Release().Words.Bytes()},
		{published.ProofFile, s.Receipt},
		{published.BillFile, materials},
		{published.ReportFile, r.JSON()},
		{"report.html", html},
		{"report.md", page.Markdown(r)},
		{"README.txt", page.Readme(r)},
	}
	if s.Holders != nil {
		b, err := canonical.Indented(s.Holders)
		if err != nil {
			return nil, err
		}
		out = append(out, document{measured.HoldersFile, b})
	}
	if len(record.Approvals) > 0 {
		b, err := canonical.Indented(record.Approvals)
		if err != nil {
			return nil, err
		}
		out = append(out, document{published.ApprovalsFile, b})
	}
	return out, nil
}

// reportedApprovals returns the approvals of a release in the form of its report.
func reportedApprovals(all []ledger.Approval) []report.Approval {
	var out []report.Approval
	for _, a := range all {
		one := report.Approval{Role: a.Role, Statement: a.Statement, Signer: a.Signer.String(),
			Fingerprint: a.Signer.Fingerprint()}
		if a.Standing != nil {
			one.Until = a.Standing.Until
		}
		out = append(out, one)
	}
	return out
}
