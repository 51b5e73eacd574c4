package release

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/derive"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/query"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/internal/verify"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
)

// This file tests what is done with the plans of other versions (docs/plan.md).

// plannedElsewhere is the plan as another version could have made it of the same spec: its parts fit together, and this
// version's planner has another figure in it.
func plannedElsewhere(p *compiled.Compiled) *compiled.Compiled {
	p.Tables[0].Statistics[0].Margin++
	return compiled.Of(p.Plan())
}

// sealedElsewhere measures a release, and seals its answers in another folder under the plan of another version, whose
// hash is what the ledger has a debit for.
func sealedElsewhere(t *testing.T, o releasetest.Office) string {
	t.Helper()
	opt := optionsOf(o, "first")
	if _, err := Measure(t.Context(), o.Plan, opt); err != nil {
		t.Fatal(err)
	}
	s, _, err := openSealed(MeasuredFolder(opt.Out, "trips"), false)
	if err != nil {
		t.Fatal(err)
	}
	s.Plan = plannedElsewhere(s.Plan)
	o.WithAnotherLedger(t).AskLedger(t, func(ctx context.Context, l *ledger.Ledger) error {
		charge, err := Options{}.charge(s.Plan)
		if err != nil {
			return err
		}
		if err := l.Reserve(ctx, charge); err != nil {
			return err
		}
		charge.Commitment = strings.Repeat("5a", 32)
		receipt, err := l.Debit(ctx, charge)
		if err != nil {
			return err
		}
		s.Receipt, err = published.EncodeRecord(receipt.Record())
		return err
	})
	folder := filepath.Join(o.Dir, "elsewhere", "trips.measured")
	err = measured.Seal(func(name string, b []byte) error {
		path := filepath.Join(folder, filepath.FromSlash(name))
		return errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, b, 0o600))
	}, s)
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// publishedElsewhere publishes sealed measurements as another version did.
func publishedElsewhere(t *testing.T, folder, out string) {
	t.Helper()
	s, record, err := openSealed(folder, true)
	if err != nil {
		t.Fatal(err)
	}
	staged, err := stage(out, "trips")
	if err != nil {
		t.Fatal(err)
	}
	defer staged.discard()
	if err := derive.Release(t.Context(), staged.Folder, s, record, published.Manifest{},
		derive.Modules()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(staged.Dir, published.ManifestFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte(published.Software), []byte("dprelease 0.0.9"), 1)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := staged.commit(); err != nil {
		t.Fatal(err)
	}
}

func TestPlansOfOtherVersions(t *testing.T) {
	o := releasetest.Trips(t)
	folder := sealedElsewhere(t, o)
	out := filepath.Join(o.Dir, "out")

	t.Run("are not measured by", func(t *testing.T) {
		o := releasetest.Trips(t)
		own, err := o.Plan.Copy()
		if err != nil {
			t.Fatal(err)
		}
		p, err := plannedElsewhere(own).WithWords(o.Plan.Release().Words)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Measure(t.Context(), p, optionsOf(o, "out"))
		wantsCode(t, "measure", err, verdict.ExitEnvironment, "another version")
		path := filepath.Join(o.Dir, "elsewhere.plan.json")
		if err := os.WriteFile(path, p.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = planfile.Read(t.Context(), path)
		wantsCode(t, "reading the plan", err, verdict.ExitApproval, "another version")
		if n := o.Debits(t); n != 0 {
			t.Errorf("%d debits", n)
		}
	})

	t.Run("are published as a revision alone", func(t *testing.T) {
		_, err := Publish(t.Context(), folder, Options{Out: out})
		wantsCode(t, "publish", err, verdict.ExitVerify, "publish it with the version that measured it")
		publishedElsewhere(t, folder, out)
		_, err = Publish(t.Context(), folder, Options{Out: out, Revision: Revision{Number: 2, Reason: "newer pages"}})
		if err != nil {
			t.Errorf("as a revision: %v", err)
		}
	})

	t.Run("are read, and not verified", func(t *testing.T) {
		for _, name := range []string{"trips", "trips-r2"} {
			place := filepath.Join(out, name)
			table := o.Plan.Tables[0]
			answer, err := query.Query(t.Context(), place, query.Question{By: table.By})
			if err != nil || len(answer.Rows) == 0 {
				t.Errorf("%s: a question to it: %v", name, err)
			}
			_, err = verify.Folder(t.Context(), place, verify.Options{})
			if err == nil || !strings.Contains(err.Error(), "cannot be recomputed by this version") {
				t.Errorf("%s is verified: %v", name, err)
			}
		}
	})

	t.Run("have the format of this one", func(t *testing.T) {
		old := bytes.Replace(o.Plan.Bytes(), []byte(plan.Format), []byte("dprelease.plan/1"), 1)
		const words = `the plan's format is "dprelease.plan/1"`
		path := filepath.Join(o.Dir, "old.plan.json")
		if err := os.WriteFile(path, old, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := planfile.Read(t.Context(), path)
		wantsCode(t, "reading the plan", err, verdict.ExitSpec, words)
		if _, err := compiled.Read(old); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("the plan of a published folder: %v", err)
		}
	})
}
