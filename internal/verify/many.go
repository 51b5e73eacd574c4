package verify

// This file holds the verification of many published folders, and of an export of the ledger against them: whether each
// of its debits has a folder.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/internal/verdict"
)

// Audit is what came of verifying many published folders.
type Audit struct {
	Folders []*Verification `json:"folders"`           // in the order in which they were verified
	Skipped []string        `json:"skipped,omitempty"` // folders beside releases that are none, with why
	Export  *AuditedExport  `json:"export,omitempty"`  // the export of the ledger, where one was given and is whole
}

// AuditedExport is an export of the ledger, held against folders.
type AuditedExport struct {
	Entries int64  `json:"entries"` // in the whole ledger
	Head    string `json:"head"`    // hash of the last entry
	Day     string `json:"day"`     // YYYY-MM-DD, UTC, of the last entry
	Debits  int    `json:"debits"`  // how many it holds
	// Without are the debits that no folder is of, but for those of releases that were abandoned.
	Without []ledger.DebitEntry `json:"without_folder"`
	// debits without a folder of releases that were given up before they were finished
	Abandoned []ledger.DebitEntry `json:"abandoned,omitempty"`
}

// FoldersFail says that some of many folders do not verify.
type FoldersFail struct {
	Failed []string
	Of     int
}

func (e *FoldersFail) Error() string {
	if len(e.Failed) == 1 {
		return fmt.Sprintf("1 of %s does not verify: %s", budget.Plural(int64(e.Of), "folder"), quotedList(e.Failed))
	}
	return fmt.Sprintf("%d of %s do not verify: %s", len(e.Failed), budget.Plural(int64(e.Of), "folder"),
		quotedList(e.Failed))
}

// Verdict says that the folders are not to be used.
func (*FoldersFail) Verdict() verdict.Verdict {
	return verdict.Verdict{Exit: verdict.ExitVerify, Reason: verdict.NotVerified, Retry: verdict.Never}
}

// DebitsAlone says that an export of the ledger holds debits that no folder is of.
type DebitsAlone struct {
	Releases []string
	Of       int // debits
}

func (e *DebitsAlone) Error() string {
	has := "have"
	if len(e.Releases) == 1 {
		has = "has"
	}
	return fmt.Sprintf("%d of %s in the export %s no folder here: %s; ask the office for what was published, or for why nothing was",
		len(e.Releases), budget.Plural(int64(e.Of), "debit"), has, quotedList(e.Releases))
}

// Verdict says that the office has to be asked.
func (*DebitsAlone) Verdict() verdict.Verdict {
	return verdict.Verdict{Exit: verdict.ExitVerify, Reason: verdict.DebitAlone, Retry: verdict.Never}
}

// namedAtOnce is how many names a message lists.
const namedAtOnce = 8

// quotedList lists names in a message, the first of them where they are many.
func quotedList(names []string) string {
	var all []string
	for _, name := range names[:min(len(names), namedAtOnce)] {
		all = append(all, screen.Quoted(name))
	}
	text := strings.Join(all, ", ")
	if more := len(names) - namedAtOnce; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// IsRelease reports whether a folder is one of a release, with a manifest, or something else than a folder that
// releases lie in.
func IsRelease(place string) bool {
	folders, _, err := releasesIn(place)
	return err != nil || len(folders) == 0
}

// Folders verifies published folders: those that are named and, of a folder that is none itself, those in it. Each is
// verified as by [Verify], and handed to done; none ends the others. With an export of the ledger it looks for every
// debit among them.
//
// Contract: where it returns no error every folder verifies, or is consistent in itself, and the export, where one was
// given, holds no debit that none of them is of, but for those of releases that were abandoned.
//
// Errors: *[FoldersFail], *[DebitsAlone] or both; *[Withdrawn] where the office has withdrawn some and nothing else is
// wrong; *[verdict.Unusable] where there is no such folder, or a key or export cannot be read.
func Folders(ctx context.Context, places []string, o Options, done func(*Verification)) (*Audit, error) {
	held, err := o.read()
	if err != nil {
		return nil, err
	}
	a := &Audit{Folders: []*Verification{}}
	folders, err := a.find(places)
	if err != nil {
		return nil, err
	}
	failing := &FoldersFail{Of: len(folders)}
	withdrawn := &Withdrawn{}
	paid := map[string]bool{} // entries of the ledger that a folder is of
	for _, folder := range folders {
		v, err := held.verify(ctx, folder)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if v == nil || v.out.Outcome == "" { // it could not be read
			v = &verifier{out: &Verification{Folder: folder, Checks: []Check{}, Outcome: DoesNotVerify,
				Says: fmt.Sprintf("%s was not verified: %s", screen.Quoted(folder), screen.Visible(err.Error(), ""))}}
		}
		switch v.out.Outcome {
		case DoesNotVerify:
			failing.Failed = append(failing.Failed, folder)
		case WithdrawnByIt:
			withdrawn.Folders = append(withdrawn.Folders, folder)
		}
		if v.record != nil {
			paid[v.record.Proof.Hash] = true
		}
		a.Folders = append(a.Folders, v.out)
		done(v.out)
	}
	var found []error
	if len(failing.Failed) > 0 {
		found = append(found, failing)
	}
	if alone := a.compare(held.export, paid); alone != nil {
		found = append(found, alone)
	}
	if len(found) == 0 && len(withdrawn.Folders) > 0 {
		return a, withdrawn
	}
	return a, errors.Join(found...)
}

// compare looks for the debits of an export, nil for none, among those that folders are of. Errors: *DebitsAlone.
func (a *Audit) compare(x *ledger.Export, paid map[string]bool) error {
	if x == nil {
		return nil
	}
	debits := x.Debits()
	a.Export = &AuditedExport{Entries: x.Entries, Head: x.Head, Day: x.Day, Debits: len(debits),
		Without: []ledger.DebitEntry{}}
	alone := &DebitsAlone{Of: len(debits)}
	for _, d := range debits {
		switch {
		case paid[d.Hash]:
		case d.State == ledger.Abandoned:
			a.Export.Abandoned = append(a.Export.Abandoned, d)
		default:
			a.Export.Without = append(a.Export.Without, d)
			alone.Releases = append(alone.Releases, d.Release)
		}
	}
	if len(alone.Releases) > 0 {
		return alone
	}
	return nil
}

// find lists the folders of releases that are named, or lie in a folder that is, each once. Errors:
// *[verdict.Unusable].
func (a *Audit) find(places []string) (all []string, err error) {
	seen := map[string]bool{}
	for _, place := range places {
		folders, others, err := releasesIn(place)
		if err != nil {
			return nil, err
		}
		if len(folders) == 0 {
			folders = []string{place}
			others = nil
		}
		for _, folder := range folders {
			dir, err := published.Resolve(folder)
			if err != nil {
				return nil, &verdict.Unusable{File: folder, Err: fmt.Errorf("this is not the folder of a release: %w", err)}
			}
			if !seen[dir] {
				all = append(all, folder)
			}
			seen[dir] = true
		}
		for _, other := range others {
			a.Skipped = append(a.Skipped, screen.Quoted(other)+": it has no "+published.ManifestFile)
		}
	}
	return all, nil
}

// releasesIn are the folders of releases in a folder that has no manifest itself, and the other folders there; hidden
// ones are not looked at. Errors: *[verdict.Unusable].
func releasesIn(place string) (folders, others []string, err error) {
	if there, err := durable.Exists(filepath.Join(place, published.ManifestFile)); err != nil || there {
		return nil, nil, nil
	}
	entries, err := os.ReadDir(place)
	if err != nil {
		return nil, nil, &verdict.Unusable{File: place, Err: fmt.Errorf("this is not the folder of a release: %w", err)}
	}
	for _, entry := range entries {
		path := filepath.Join(place, entry.Name())
		if info, err := os.Stat(path); err != nil || !info.IsDir() || strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		if there, err := durable.Exists(filepath.Join(path, published.ManifestFile)); err == nil && !there {
			others = append(others, path)
			continue
		}
		folders = append(folders, path)
	}
	return folders, others, nil
}

// sayOthers notes of one folder which other debits the export holds.
func (v *verifier) sayOthers() {
	if v.export == nil || v.record == nil {
		return
	}
	var others []string
	for _, d := range v.export.Debits() {
		if d.Hash != v.record.Proof.Hash && d.State != ledger.Abandoned && !slices.Contains(others, d.Release) {
			others = append(others, d.Release)
		}
	}
	if len(others) > 0 {
		v.out.Unchecked = append(v.out.Unchecked,
			fmt.Sprintf("the other releases that the export holds debits of, %s: give their folders too, or the folder that they lie in, and each debit without one is named", quotedList(others)))
	}
}
