package verify

// This file checks who paid and who approved: the published ledger entry, the
// signatures under the plan, and an export of the ledger.

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/canonical"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/plan/template"
)

// checkDebit checks the published record of the debit against its own proof and against the plan.
func (v *verifier) checkDebit(context.Context) (string, error) {
	if v.sealed == nil {
		return "", &notDone{"needs a plan and measurements that can be read"}
	}
	text, err := v.readListed(published.ProofFile)
	if err != nil {
		return "", err
	}
	v.sealed.Receipt = json.RawMessage(text)
	if err := v.readHolders(); err != nil {
		return "", err
	}
	r, err := published.RecordIn(v.sealed)
	if about, is := strings.CutPrefix(fmt.Sprint(err), measured.HoldersFile+": "); is {
		return "", published.Faultf(measured.HoldersFile, "%s", about)
	}
	if err != nil {
		return "", published.Faultf(published.ProofFile, "%s",
			strings.TrimPrefix(err.Error(), measured.ReceiptFile+" "))
	}
	if err := r.Check(); err != nil {
		return "", published.Faultf(published.ProofFile, "%v", err)
	}
	p := v.plan
	switch {
	case !published.IsName(r.Account):
		return "", published.Faultf(published.ProofFile, "is of the account %q, which is no name of an account",
			r.Account)
	case !r.Cost.Equal(p.Cost):
		return "", published.Faultf(published.ProofFile, "is of a debit of %s, the plan costs %s", r.Cost, p.Cost)
	case r.Template != "" && r.Template != template.Hash(p.Plan()):
		return "", published.Faultf(published.ProofFile, "is of a plan with another template")
	case r.Status == ledger.Official && r.Account != p.Guarantee.Account, r.Status == ledger.Official &&
		!slices.Equal(r.FurtherAccounts, p.Guarantee.FurtherAccounts):
		return "", published.Faultf(published.ProofFile, "is of other accounts than the plan names")
	case r.Corrects != p.Corrects && r.Status != ledger.Rehearsal:
		return "", published.Faultf(published.ProofFile, "corrects another release than the plan")
	case v.manifestText != nil && v.manifest.Head != r.Proof.Hash:
		return "", published.Faultf(published.ManifestFile, "names another entry of the ledger than %s",
			published.ProofFile)
	}
	if v.sealed.Holders == nil { // else the debits are in ledgers of the holders
		if err := v.checkEntrySigner(r); err != nil {
			return "", err
		}
	}
	v.record = &r
	if n := len(v.sealed.Holders); n > 0 {
		return fmt.Sprintf("%s from the account of each of %d holders, each of whom signed its share", r.Cost,
			v.sealed.TookPart()), nil
	}
	return fmt.Sprintf("%s from account %s on %s, entry %s", r.Cost, r.Account, r.Date, r.Proof.Hash[:16]), nil
}

// readHolders reads what a release of several holders says of them; nothing of another release.
func (v *verifier) readHolders() error {
	if v.plan.Release().Holders == nil || v.manifest.Status == published.RehearsalStatus {
		return nil
	}
	text, err := v.readListed(measured.HoldersFile)
	if err != nil {
		return err
	}
	var all []measured.Held
	if json.Unmarshal(text, &all) != nil || len(all) != len(v.plan.Release().Holders.All) {
		return published.Faultf(measured.HoldersFile, "cannot be read")
	}
	if again, err := canonical.Indented(all); err != nil || !bytes.Equal(again, text) {
		return published.Faultf(measured.HoldersFile, "is not in the form in which it is written")
	}
	v.sealed.SetHolders(all)
	v.out.Signed = append(v.out.Signed, fmt.Sprintf(
		"what each of %d holders has sealed, or that it withdrew: by the key of the holder in the plan", len(all)))
	return nil
}

// checkEntrySigner checks that the ledger's entry of the debit is signed by the key that signed the manifest, and
// notes the signature. If a key is trusted, an official debit must be signed by that key: anybody can begin another
// ledger, and a debit in it costs nothing here.
func (v *verifier) checkEntrySigner(r ledger.Record) error {
	office := r.Proof.Office
	if office.IsZero() {
		if r.Status == ledger.Official && !v.trust.IsZero() {
			return published.Faultf(published.ProofFile,
				"is of a ledger that nobody signs, so %s does not tell whose account paid: the debit of a release is "+
					"signed with the office's key", v.options.Trust)
		}
		return nil
	}
	if !v.trust.IsZero() && office != v.trust {
		return published.Faultf(published.ProofFile,
			"is signed by the key with the fingerprint %s, not by the one in %s (%s)", office.Fingerprint(),
			v.options.Trust,
			v.trust.Fingerprint())
	}
	if !v.manifestSigner.IsZero() && office != v.manifestSigner {
		return published.Faultf(published.SignatureFile,
			"is by the key with the fingerprint %s, the ledger's entry of the debit by another, %s: an office signs "+
				"both with one", v.manifestSigner.Fingerprint(), office.Fingerprint())
	}
	v.out.Signed = append(v.out.Signed,
		fmt.Sprintf("the ledger's entry of the debit: by the key with the fingerprint %s, %s", office.Fingerprint(),
			v.keyAdvice()))
	return nil
}

// checkApprovals checks the signatures under the plan.
func (v *verifier) checkApprovals(context.Context) (string, error) {
	if v.record == nil {
		return "", &notDone{"needs the record of a debit"}
	}
	words := v.plan.Release().Words.Hash()
	for _, b := range v.manifest.Approvals {
		isRenewed := func(a ledger.Approval) bool { return a.Words != words && b.RenewsWords(a, v.plan.Hash(), words) }
		if !slices.ContainsFunc(v.record.Approvals, isRenewed) {
			return "", published.Faultf(published.ManifestFile, "an approval of words as %s renews none of the debit",
				b.Role)
		}
		v.out.Signed = append(v.out.Signed, fmt.Sprintf(
			"the approval as %s of these titles and labels, which replace the words approved for the debit: by the "+
				"same key", b.Role))
	}
	for _, a := range v.record.Approvals {
		if err := a.Verify(); err != nil {
			return "", published.Faultf(published.ApprovalsFile, "%v", err)
		}
		signed := v.plan.Hash()
		until := ""
		if a.Standing != nil {
			signed, until = template.Hash(v.plan.Plan()), ", for every release like it until "+a.Standing.Until
			if v.record.Date > a.Standing.Until {
				return "", published.Faultf(published.ApprovalsFile,
					"the approval of role %s ended on %s, before the debit",
					a.Role, a.Standing.Until)
			}
		}
		if a.Plan != signed {
			return "", published.Faultf(published.ApprovalsFile, "the approval of role %s is of another plan", a.Role)
		}
		isRenewed := func(b ledger.Approval) bool { return b.RenewsWords(a, v.plan.Hash(), words) }
		if a.Words != words && !slices.ContainsFunc(v.manifest.Approvals, isRenewed) {
			return "", published.Faultf(measured.WordsFile, "role %s approved other words, and not these", a.Role)
		}
		v.out.Signed = append(v.out.Signed,
			fmt.Sprintf("the approval of role %s%s: by the key with the fingerprint %s: compare it with the one in "+
				"the account's policy", a.Role, until, a.Signer.Fingerprint()))
	}
	if len(v.record.Approvals) == 0 {
		return "", &notDone{"none in the ledger's entry of the debit; the policies of its accounts say whether they " +
			"ask for any"}
	}
	return fmt.Sprintf("%s of this plan", budget.Plural(int64(len(v.record.Approvals)), "signature")), nil
}

// checkExport looks for the release in an export of the office's ledger.
func (v *verifier) checkExport(context.Context) (string, error) {
	if v.options.Export == "" {
		return "", &notDone{"needs --ledger-export, an export of the office's ledger"}
	}
	switch x := v.export; {
	case v.exportFault != nil:
		return "", published.Faultf(v.options.Export, "%s", v.exportFault)
	case v.record == nil:
		return "", &notDone{"needs the record of a debit"}
	case !v.trust.IsZero() && !x.Office.IsZero() && x.Office != v.trust:
		return "", published.Faultf(v.options.Export,
			"is signed by the key with the fingerprint %s, not by the one in %s",
			x.Office.Fingerprint(), v.options.Trust)
	}
	r, seal, err := v.debitIn(v.export)
	if err != nil {
		return "", err
	}
	if err := v.export.Contains(r); err != nil {
		if r.Status != ledger.Official {
			return "", &notDone{"practice and rehearsals are debited in ledgers of their own, and this export is of another"}
		}
		return "", published.Faultf(v.options.Export, "%s", explainMissingDebit(v.export, r))
	}
	return v.checkSeal(v.export, r, seal)
}

// debitIn returns the debit of the release that an export should hold, and the seal of what was drawn for it: of
// several holders, those of one whose debit it holds, if there is one.
func (v *verifier) debitIn(x *ledger.Export) (ledger.Record, string, error) {
	for _, h := range v.sealed.Holders {
		var r ledger.Record
		if err := json.Unmarshal(h.Receipt, &r); err == nil && !h.Withdrawn && x.Contains(r) == nil {
			return r, h.DrawnSeal(), nil
		}
	}
	seal, err := measured.HashOf(v.sealed)
	return *v.record, seal, err
}

// explainMissingDebit returns why an export may lack the debit of a release. Innocent explanations come first.
func explainMissingDebit(x *ledger.Export, r ledger.Record) string {
	without := fmt.Sprintf("does not hold the debit of this release (%s, entry %s)", r.Date, r.Proof.Hash[:16])
	switch {
	case x.Office != r.Proof.Office:
		return "is of another ledger, which another key or none signs: it " + without
	case x.Day <= r.Date:
		return fmt.Sprintf("is an older copy of the ledger, or of another one: it ends with entry %s of %s and %s; "+
			"ask the office for a newer export", budget.Group(x.Entries), x.Day, without)
	}
	return fmt.Sprintf("%s, though it goes on to entry %s of %s: it is of another ledger, or the debit was never in it",
		without, budget.Group(x.Entries), x.Day)
}

// checkSeal compares the measurements with the seal under which the ledger closed the release.
func (v *verifier) checkSeal(x *ledger.Export, r ledger.Record, seal string) (string, error) {
	posted, err := statementRelease(x, r)
	if err != nil {
		return "", err
	}
	if posted.State == ledger.Withdrawn {
		v.out.Withdrawn = &Withdrawal{Date: posted.Date, Reason: screen.Visible(posted.Reason, "")}
	}
	switch x.Seal(r.Account, r.Release) {
	case seal:
	case "":
		return "", published.Faultf(v.options.Export, "%s", explainMissingSeal(x, posted))
	default:
		return "", published.Faultf(v.options.Export,
			"says that other measurements were drawn for this release than those published here")
	}
	asked, err := approvalsAsked(x, r)
	if err != nil {
		return "", err
	}
	what, sealed := "these measurements", "these very measurements"
	if v.sealed.Holders != nil {
		what, sealed = "the masked share of the holder whose ledger this is", "the masked share of its holder"
	}
	says := fmt.Sprintf("the export holds the debit and the seal of %s; %s; entry %s is its last, head %s", what, asked,
		budget.Group(x.Entries), x.Head)
	if v.out.Withdrawn != nil {
		says += "; THE OFFICE HAS WITHDRAWN THIS RELEASE, see the last line"
	}
	v.out.Recomputed = append(v.out.Recomputed,
		"the ledger's export is one chain, within its caps and with the approvals that its accounts ask for, and "+
			"holds this debit and the seal of "+sealed)
	v.out.Unchecked = append(v.out.Unchecked, "that the export is the newest: compare its head with the office's")
	if x.Office.IsZero() {
		v.out.Unchecked = append(v.out.Unchecked, "that the export is the office's: its entries are not signed")
	} else {
		v.out.Signed = append(v.out.Signed, fmt.Sprintf("every entry of %s: by the key with the fingerprint %s, %s",
			v.options.Export, x.Office.Fingerprint(), v.keyAdvice()))
	}
	return says, nil
}

// statementRelease returns a release as the statement of its account lists it. The export holds the debit of the
// release.
func statementRelease(x *ledger.Export, r ledger.Record) (ledger.StatementRelease, error) {
	s, err := x.Statement(r.Account)
	if err != nil {
		return ledger.StatementRelease{}, err
	}
	for _, p := range s.Releases {
		if p.Release == r.Release && p.Account == r.Account && p.PlanHash == r.PlanHash {
			return p, nil
		}
	}
	return ledger.StatementRelease{}, fmt.Errorf("account %s does not list release %s", r.Account, r.Release)
}

// explainMissingSeal returns why an export that holds the debit of a release lacks the seal of its measurements.
func explainMissingSeal(x *ledger.Export, p ledger.StatementRelease) string {
	if p.State == ledger.Abandoned {
		return fmt.Sprintf("says that the release was abandoned on %s (%s) before it was finished: no measurements "+
			"of it are known to the ledger", p.Date, screen.Visible(p.Reason, ""))
	}
	return fmt.Sprintf("is an older copy of the ledger: it holds the debit of this release and ends, with entry %s "+
		"of %s, before the release was finished, so it knows nothing of these measurements; ask the office for a "+
		"newer export",
		budget.Group(x.Entries), x.Day)
}

// approvalsAsked returns, in words, whose approval the policies of the debited accounts and of the accounts above them
// require. An export that lacks a required approval cannot be read in the first place.
func approvalsAsked(x *ledger.Export, r ledger.Record) (string, error) {
	roles := map[string]bool{}
	for _, account := range append([]string{r.Account}, r.FurtherAccounts...) {
		for account != "" {
			s, err := x.Statement(account)
			if err != nil {
				return "", err
			}
			for role := range s.Approvals {
				roles[role] = true
			}
			account = s.Parent
		}
	}
	if len(roles) == 0 {
		return "its accounts ask for no approval", nil
	}
	return "its accounts ask for the approval of role " + strings.Join(slices.Sorted(maps.Keys(roles)), ", ") +
		", which it holds", nil
}
