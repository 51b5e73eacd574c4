package verify

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/derive"
	"github.com/dprelease/dprelease/internal/memory"
	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/report"
)

// checkReport compares the guarantee in the report with that of the plan as it was measured: holders may have
// withdrawn.
func (v *verifier) checkReport(context.Context) (string, error) {
	text, err := v.readListed(published.ReportFile)
	if err != nil {
		return "", err
	}
	r, err := report.Read(text)
	if err != nil {
		return "", published.Faultf(published.ReportFile, "%v", err)
	}
	if v.plan == nil || v.record == nil {
		return "", &notDone{"needs a plan and the record of its debit"}
	}
	g := v.plan.Guarantee
	switch {
	case r.Provenance.PlanHash != v.plan.Hash() || r.Release != v.plan.Name:
		return "", published.Faultf(published.ReportFile, "is of another plan")
	case r.Guarantee.Statement != describe.Guarantee(r.In(), v.sealed.Plan.Plan()) ||
		r.Guarantee.Epsilon != g.Epsilon ||
		r.Guarantee.Delta != g.Delta || r.Guarantee.Rho != g.Rho || r.Guarantee.Definition != g.Definition:
		return "", published.Faultf(published.ReportFile, "promises something else than the plan")
	case string(r.Status) != string(v.record.Status) || r.Budget.Receipt.EntryHash != v.record.Proof.Hash:
		return "", published.Faultf(published.ReportFile, "is about another debit")
	case r.Certificate.Account.Comparisons != v.record.Comparisons ||
		r.Certificate.Account.Witnessed != v.record.Witnessed ||
		len(r.Certificate.Approvals) != len(v.record.Approvals):
		return "", published.Faultf(published.ReportFile, "its certificate does not say what the ledger's entry says")
	}
	return "promises " + describe.Budget(g), nil
}

// checkRepublished derives everything again from the plan, the measurements and the record of the debit, in a
// temporary folder, and compares.
func (v *verifier) checkRepublished(ctx context.Context) (string, error) {
	if !v.planFollows || v.sealed == nil || v.record == nil || v.manifestText == nil {
		return "", &notDone{"needs a manifest, a plan that its spec leads to, measurements and the record of a debit"}
	}
	text, err := v.readListed(published.BillFile)
	if err != nil {
		return "", err
	}
	built, err := derive.ReadBill(text, v.manifest.Software)
	if err != nil {
		return "", published.Faultf(published.BillFile, "%v", err)
	}
	dir, err := os.MkdirTemp("", "dprelease-verify-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	if err := v.manifest.Rows.Fits(v.plan); err != nil {
		return "", published.Faultf(published.ManifestFile, "%v", err)
	}
	if err := v.manifest.Methods.Fits(v.plan); err != nil {
		return "", published.Faultf(published.ManifestFile, "%v", err)
	}
	m := published.Manifest{Revision: v.manifest.Revision, Reason: v.manifest.Reason, Replaces: v.manifest.Replaces,
		Rows: v.manifest.Rows, Methods: v.manifest.Methods, Approvals: v.manifest.Approvals}
	if err := derive.Release(ctx, derive.NewFolder(dir), v.sealed, *v.record, m, built); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if verdict.Has[*memory.Error](err) {
			return "", &notDone{err.Error()}
		}
		return "", published.Faultf(published.ReportFile, "cannot be made again: %v%s", err, v.versionHint())
	}
	names, err := published.Files(dir)
	if err != nil {
		return "", err
	}
	for _, line := range v.manifest.Files {
		if !slices.Contains(names, line.Path) {
			return "", published.Faultf(line.Path, "is nothing that the plan and the measurements lead to")
		}
	}
	// The manifest differs with any other file, so it is named last.
	names = append(slices.DeleteFunc(names, func(name string) bool { return name == published.ManifestFile }),
		published.ManifestFile)
	ctx = progress.Begin(ctx, int64(len(names)), "comparing what was made again")
	for _, name := range names {
		progress.Add(ctx, 1)
		same, err := published.EqualFiles(filepath.Join(dir, filepath.FromSlash(name)), v.path(name))
		if err != nil {
			return "", err
		}
		if !same {
			return "", published.Faultf(name, "is not what the plan and the measurements lead to%s", v.versionHint())
		}
	}
	if !slices.Equal(built, derive.Modules()) {
		v.out.Unchecked = append(v.out.Unchecked,
			fmt.Sprintf("that it was published by a build of %s from the modules that %s lists: this program was "+
				"built from others", v.manifest.Software, published.BillFile))
	}
	return fmt.Sprintf("%s and %s made again", budget.Plural(int64(len(names)-1), "file"), published.ManifestFile), nil
}

// uncheckable lists what nobody can find out from the folder, whatever its checks say.
func (v *verifier) uncheckable() []string {
	var all []string
	add := func(holds bool, text string) {
		if holds {
			all = append(all, text)
		}
	}
	rehearsed := v.out.Marked == published.RehearsalStatus
	add(rehearsed, "anything about the world: this is a rehearsal on made-up data")
	add(v.out.Marked == published.PracticeStatus, "any approval of its budget: this is practice, not a release")
	collected := v.plan != nil && v.plan.Release().Collection != nil
	add(collected, "that the respondents' devices randomised the answers as the plan says, each answer once")
	add(collected, "that no report is false, and that exactly the reports that came in were counted")
	add(!collected, "that the named program truly drew the noise, once, from a key that nobody knows")
	add(!collected, "that the spec's bounds were applied and the input was the true one")
	held := v.plan != nil && v.plan.Release().Holders != nil && !rehearsed
	add(held, "that the figures are made of the sum of the holders' shares (whoever has the shares can combine them "+
		"again, publish that, and compare)")
	add(held, "that each holder counted its own rows, drew its noise, and declared rightly how many holders have "+
		"rows of one unit")
	add(!rehearsed, "that nothing else was released from the same data without the ledger")
	if r := v.record; r != nil && !rehearsed {
		alone := v.options.Export == ""
		add(alone,
			"that the ledger still holds the debit and knows these measurements (ask for an export: --ledger-export)")
		add(alone && r.Status == ledger.Official && len(r.Approvals) == 0,
			"that nobody had to approve it: the entry of the debit has no approval, and only an export of the ledger "+
				"shows what the account's policy asks for")
		add(r.Proof.Office.IsZero(),
			"that the entry of the debit is from the office's ledger: its entries are not signed")
		add(!r.Witnessed,
			"that the ledger was never rolled back to an older state: no witness on another disk or host keeps its "+
				"newest entry for every account that paid")
	}
	if v.plan != nil {
		for _, s := range v.plan.Synthetic {
			add(s.Adaptive(), fmt.Sprintf("that the sets of columns for the microdata of %s were truly chosen as the "+
				"plan says (checked is only that the plan allows them)", s.Table))
		}
	}
	if before := v.manifest.Replaces; before != nil {
		add(v.manifestText != nil, fmt.Sprintf(
			"why revision %d was made (%q), and that what it replaces, %s by %s, was of the same measurements",
			v.manifest.Revision, v.manifest.Reason, before.Folder, before.Software))
	}
	return all
}

// summarize fills in what a reader must know in addition to the checks.
func (v *verifier) summarize() {
	out := v.out
	if len(out.Signed) == 0 {
		out.Signed = append(out.Signed,
			"nothing. Whoever can write in this folder may have made all of it: whether it is the office's depends "+
				"on where you got it")
	} else if v.manifestText != nil {
		if _, err := os.Stat(v.path(published.SignatureFile)); err != nil {
			out.Signed = append(out.Signed,
				"but not the manifest: the measurements, and all that follows from them, may be another's")
		}
	}
	out.Unchecked = append(v.uncheckable(), out.Unchecked...)
	if out.Marked == published.OfficialStatus {
		out.NotEstablished = v.notEstablished()
	}
	for _, list := range [][]string{out.Recomputed, out.Signed, out.Unchecked, out.NotEstablished} {
		for i, item := range list {
			list[i] = screen.Visible(item, "")
		}
	}
}

// notEstablished says, in sentences, what a release claims and the checks do not show when no key is trusted: a
// signature proves nothing about a key that came with it.
func (v *verifier) notEstablished() []string {
	switch {
	case !v.trust.IsZero():
		return nil
	case !v.manifestSigner.IsZero():
		return []string{fmt.Sprintf(
			"This does not show who measured it, or whether it was paid for. The folder is signed by the key with "+
				"the fingerprint %s, but nothing here shows whose key that is. Give the office's public key "+
				"(--trust), or compare the fingerprint with the one that the office has published.",
			v.manifestSigner.Fingerprint())}
	case v.options.Export != "":
		return []string{
			"This does not show who measured it: nobody has signed the folder.",
			"Nor does it show whether it was paid for. The export holds the debit and the seal of these " +
				"measurements, but nothing here shows whose export it is. Take the export from the office itself, or " +
				"give the office's public key (--trust).",
		}
	}
	return []string{
		"This does not show who measured it. Nobody has signed the folder, so whoever wrote it may have made the " +
			"measurements up.",
		"Nor does it show whether it was paid for. The debit matches this plan, but nothing shows that it belongs to " +
			"these measurements. Ask the office for the signed folder and give the office's public key (--trust), or " +
			"ask for an export of its ledger (--ledger-export).",
	}
}
