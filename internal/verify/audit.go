package verify

// This file verifies many published folders, and compares an export of the ledger with them: each of its debits must
// have a folder.

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
	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/internal/verdict"
)

// Audit is the result of verifying many published folders.
type Audit struct {
	Folders []*Verification `json:"folders"`           // in the order in which they were verified
	Skipped []string        `json:"skipped,omitempty"` // folders that are no releases, with the reason
	Export  *AuditedExport  `json:"export,omitempty"`  // the export of the ledger, if one was given and is intact
}

// AuditedExport is an export of the ledger, compared with folders.
type AuditedExport struct {
	Entries int64  `json:"entries"` // in the whole ledger
	Head    string `json:"head"`    // hash of the last entry
	Day     string `json:"day"`     // YYYY-MM-DD, UTC, of the last entry
	Debits  int    `json:"debits"`  // in the export
	// WithoutFolder are the debits without a folder, except those of abandoned releases.
	WithoutFolder []ledger.DebitEntry `json:"without_folder"`
	// debits without a folder whose releases were abandoned before they were finished
	Abandoned []ledger.DebitEntry `json:"abandoned,omitempty"`
}

// FoldersFailed reports that some of many folders do not verify.
type FoldersFailed struct {
	Failed []string
	Total  int
}

func (e *FoldersFailed) Error() string {
	if len(e.Failed) == 1 {
		return fmt.Sprintf("1 of %s does not verify: %s", budget.Plural(int64(e.Total), "folder"), quotedList(e.Failed))
	}
	return fmt.Sprintf("%d of %s do not verify: %s", len(e.Failed), budget.Plural(int64(e.Total), "folder"),
		quotedList(e.Failed))
}

// Verdict returns that the folders must not be used.
func (*FoldersFailed) Verdict() verdict.Verdict {
	return verdict.Verdict{Exit: verdict.ExitVerify, Reason: verdict.NotVerified, Retry: verdict.Never}
}

// DebitsWithoutFolder reports that an export of the ledger holds debits without a folder.
type DebitsWithoutFolder struct {
	Releases []string
	Total    int // debits
}

func (e *DebitsWithoutFolder) Error() string {
	has := "have"
	if len(e.Releases) == 1 {
		has = "has"
	}
	return fmt.Sprintf(
		"%d of %s in the export %s no folder here: %s; ask the office for what was published, or for why nothing was",
		len(e.Releases), budget.Plural(int64(e.Total), "debit"), has, quotedList(e.Releases))
}

// Verdict returns that the office has to be asked.
func (*DebitsWithoutFolder) Verdict() verdict.Verdict {
	return verdict.Verdict{Exit: verdict.ExitVerify, Reason: verdict.DebitAlone, Retry: verdict.Never}
}

// namedAtOnce is how many names a message lists.
const namedAtOnce = 8

// quotedList returns the first names of a list for a message, and how many more there are.
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

// IsRelease reports whether place is the folder of a release, which has a manifest, or anything else than a folder
// that holds releases.
func IsRelease(place string) bool {
	folders, _, err := releasesIn(place)
	return err != nil || len(folders) == 0
}

// Folders verifies published folders: the named ones and, for a folder that is no release itself, the folders in it.
// Each is verified as by [Folder] and passed to done; a failure does not stop the others. With an export of the
// ledger, every debit in it must belong to one of the folders.
//
// Contract: where it returns no error every folder verifies, or is consistent in itself, and the export, if one was
// given, holds no debit without a folder, except those of abandoned releases.
//
// Errors: *[FoldersFailed], *[DebitsWithoutFolder] or both; *[Withdrawn] if the office has withdrawn some and nothing
// else is wrong; *[verdict.Unusable] if there is no such folder, or a key or export cannot be read.
func Folders(ctx context.Context, places []string, o Options, done func(*Verification)) (*Audit, error) {
	known, err := o.readKeyAndExport()
	if err != nil {
		return nil, err
	}
	a := &Audit{Folders: []*Verification{}}
	folders, err := a.findFolders(places)
	if err != nil {
		return nil, err
	}
	failed := &FoldersFailed{Total: len(folders)}
	withdrawn := &Withdrawn{}
	paid := map[string]bool{} // entries of the ledger that have a folder
	for i, folder := range folders {
		v, err := known.verify(progress.Within(ctx, "folder %d of %d", i+1, len(folders)), folder)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if v == nil || v.out.Outcome == "" { // it could not be read
			v = &verifier{out: &Verification{Folder: folder, Checks: []Check{}, Outcome: DoesNotVerify,
				Says: fmt.Sprintf("%s was not verified: %s", screen.Quoted(folder), screen.Visible(err.Error(), ""))}}
		}
		switch v.out.Outcome {
		case DoesNotVerify:
			failed.Failed = append(failed.Failed, folder)
		case WithdrawnByOffice:
			withdrawn.Folders = append(withdrawn.Folders, folder)
		}
		if v.record != nil {
			paid[v.record.Proof.Hash] = true
		}
		a.Folders = append(a.Folders, v.out)
		done(v.out)
	}
	var failures []error
	if len(failed.Failed) > 0 {
		failures = append(failures, failed)
	}
	if alone := a.compareDebits(known.export, paid); alone != nil {
		failures = append(failures, alone)
	}
	if len(failures) == 0 && len(withdrawn.Folders) > 0 {
		return a, withdrawn
	}
	return a, errors.Join(failures...)
}

// compareDebits looks for the debits of an export, if there is one, among the entries that have a folder. Errors:
// *DebitsWithoutFolder.
func (a *Audit) compareDebits(x *ledger.Export, paid map[string]bool) error {
	if x == nil {
		return nil
	}
	debits := x.Debits()
	a.Export = &AuditedExport{Entries: x.Entries, Head: x.Head, Day: x.Day, Debits: len(debits),
		WithoutFolder: []ledger.DebitEntry{}}
	alone := &DebitsWithoutFolder{Total: len(debits)}
	for _, d := range debits {
		switch {
		case paid[d.Hash]:
		case d.State == ledger.Abandoned:
			a.Export.Abandoned = append(a.Export.Abandoned, d)
		default:
			a.Export.WithoutFolder = append(a.Export.WithoutFolder, d)
			alone.Releases = append(alone.Releases, d.Release)
		}
	}
	if len(alone.Releases) > 0 {
		return alone
	}
	return nil
}

// findFolders lists the folders of releases that are named, or are in a named folder, each once. Errors:
// *[verdict.Unusable].
func (a *Audit) findFolders(places []string) (all []string, err error) {
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
				return nil, &verdict.Unusable{File: folder, Err: fmt.Errorf("this is not the folder of a release: %w",
					err)}
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

// releasesIn returns the folders of releases in a folder that has no manifest itself, and its other folders. Hidden
// folders are ignored. Errors: *[verdict.Unusable].
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

// listOtherDebits notes which other debits the export holds when a single folder is verified.
func (v *verifier) listOtherDebits() {
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
			fmt.Sprintf("the other releases that the export holds debits of, %s: give their folders too, or the "+
				"folder that they lie in, and each debit without one is named", quotedList(others)))
	}
}
