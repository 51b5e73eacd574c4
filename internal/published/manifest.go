package published

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/canonical"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/regular"
	"github.com/dprelease/dprelease/plan/compiled"
)

// Software names the program and its version in what it publishes.
const Software = "dprelease 0.3.0"

// ManifestFormat is the format of the manifests that this version writes, and reads.
const ManifestFormat = "dprelease.manifest/1"

// Manifest lists every other file of a release, except the manifest's own signature, with its SHA-256.
type Manifest struct {
	Format   string    `json:"format"`
	Release  string    `json:"release"`
	Revision int       `json:"revision,omitempty"` // of the publication; absent for the first
	Reason   string    `json:"reason,omitempty"`   // of a revision
	Replaces *Replaced `json:"replaces,omitempty"` // by a revision
	// of microdata, if the publication requested other numbers than the plan's
	Rows RequestedRows `json:"rows,omitempty"`
	// of microdata, if the publication requested others than the plan's
	Methods RequestedMethods `json:"methods,omitempty"`
	// by those who approved the plan with other words; the approvals of the debit are in the ledger's proof
	Approvals []ledger.Approval `json:"words_approvals,omitempty"`
	Status    string            `json:"status"`
	PlanHash  string            `json:"plan_hash"`
	Head      string            `json:"ledger_head"` // of the account's ledger, as of the debit
	Software  string            `json:"software"`
	Files     []Line            `json:"files"`
}

// Replaced names the publication that a revision replaces.
type Replaced struct {
	Folder         string `json:"folder"`
	ManifestSHA256 string `json:"manifest_sha256"`
	Software       string `json:"software"`
}

// Line is a file of a release, as its manifest lists it.
type Line struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Readers see the names in a manifest. These patterns leave no room for a sentence in the name of a release or in the
// version of the software.
var (
	releaseForm  = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,99}$`)
	softwareForm = regexp.MustCompile(`^[0-9A-Za-z._+~-]{1,64}( [0-9A-Za-z._+~-]{1,64})?$`)
	sha256Form   = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// IsName reports whether a text can be the name of a release or of an account.
func IsName(name string) bool { return releaseForm.MatchString(name) }

// Validate returns an error unless the manifest describes its publication consistently: a first one, or a revision.
func (m Manifest) Validate() error {
	switch {
	case !IsName(m.Release):
		return fmt.Errorf("is of release %q, which is no name of a release", m.Release)
	case m.Status != OfficialStatus && m.Status != PracticeStatus && m.Status != RehearsalStatus:
		return fmt.Errorf("has status %q, which no release has", m.Status)
	case !softwareForm.MatchString(m.Software):
		return fmt.Errorf("names the software %q, which is no name and version", m.Software)
	case m.Rows.Validate() != nil:
		return m.Rows.Validate()
	case m.Methods.Validate() != nil:
		return m.Methods.Validate()
	case m.Revision == 0 && m.Reason == "" && m.Replaces == nil:
		return nil
	case m.Revision < 2:
		return fmt.Errorf("has revision %d with a reason or a predecessor, which a first publication has not",
			m.Revision)
	case !IsReason(m.Reason):
		return fmt.Errorf("gives as the reason of revision %d what is not one line of at most %d bytes", m.Revision,
			MaxReason)
	case m.Replaces == nil:
		return fmt.Errorf("does not say what revision %d replaces", m.Revision)
	}
	before := FolderName(m.Release, m.Revision-1)
	switch r := m.Replaces; {
	case r.Folder != before:
		return fmt.Errorf("says that revision %d replaces %q, where %s is the one before it", m.Revision, r.Folder,
			before)
	case !sha256Form.MatchString(r.ManifestSHA256):
		return fmt.Errorf("gives as the SHA-256 of the manifest of %s what is none", before)
	case !softwareForm.MatchString(r.Software):
		return fmt.Errorf("names the software of %s %q, which is no name and version", before, r.Software)
	}
	return nil
}

// mostManifest is the greatest size of a manifest, in bytes.
const mostManifest = 64 << 20

// ReadManifest reads the manifest of a folder that may belong to another plan or kind. Use [OpenFolder] to read the
// contents of a folder.
func ReadManifest(place string) (m Manifest, err error) {
	path := filepath.Join(place, ManifestFile)
	b, err := regular.Read(path, mostManifest)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	if m.Format != ManifestFormat {
		return m, fmt.Errorf("%s: format %q, expected %q", path, m.Format, ManifestFormat)
	}
	return m, nil
}

// plannedFiles returns the files of a release that its plan names: all but the documents and the answers to what was
// chosen during measurement.
func plannedFiles(p *compiled.Compiled) []string {
	var names []string
	for _, t := range p.Tables {
		names = append(names, t.File())
	}
	for _, m := range p.Measurements {
		names = append(names, measured.Path(m.ID))
	}
	for _, s := range p.Synthetic {
		names = append(names, MicrodataFiles(s)...)
		if s.Adaptive() {
			names = append(names, measured.RoundsPath(s.Table))
		}
	}
	for _, m := range p.Models {
		names = append(names, measured.TrainingPath(m), m.File())
	}
	for _, m := range p.TableModels {
		names = append(names, m.File())
	}
	return names
}

// OtherFormat reports a manifest in the format of another version.
type OtherFormat struct{ format string }

func (e *OtherFormat) Error() string {
	return fmt.Sprintf("has format %q, expected %q", e.format, ManifestFormat)
}

// ParseManifest parses a manifest, which must be in the form in which it is written. Errors: *[OtherFormat], *[Fault].
func ParseManifest(text []byte) (m Manifest, err error) {
	if err := json.Unmarshal(text, &m); err != nil {
		return m, Faultf(ManifestFile, "cannot be read: %v", err)
	}
	if m.Format != ManifestFormat {
		return m, &OtherFormat{m.Format}
	}
	if again, err := canonical.Indented(m); err != nil || !bytes.Equal(again, text) {
		return m, Faultf(ManifestFile, "is not in the form in which it is written: it was edited")
	}
	if err := m.Validate(); err != nil {
		return m, Faultf(ManifestFile, "%v", err)
	}
	if !slices.IsSortedFunc(m.Files,
		func(a, b Line) int { return strings.Compare(walkOrder(a.Path), walkOrder(b.Path)) }) {
		return m, Faultf(ManifestFile, "does not list its files in order")
	}
	for i, line := range m.Files {
		switch {
		case line.Path == ManifestFile || line.Path == SignatureFile ||
			!filepath.IsLocal(filepath.FromSlash(line.Path)) ||
			path.Clean(line.Path) != line.Path ||
			strings.Contains(line.Path, `\`) || strings.ContainsFunc(line.Path, isUnprintable):
			return m, Faultf(ManifestFile, "lists %q, which is no file of a release", line.Path)
		case i > 0 && line.Path == m.Files[i-1].Path:
			return m, Faultf(ManifestFile, "lists %s twice", line.Path)
		}
	}
	return m, nil
}

// isUnprintable reports whether a character must not occur in the name of a file of a release.
func isUnprintable(c rune) bool { return unicode.IsSpace(c) || !unicode.IsGraphic(c) }

// walkOrder returns a sort key that orders paths as a walk through folders does.
func walkOrder(path string) string { return strings.ReplaceAll(path, "/", "\x00") }

// linesByPath returns the lines of a manifest by their paths.
func (m Manifest) linesByPath() map[string]Line {
	lines := make(map[string]Line, len(m.Files))
	for _, line := range m.Files {
		lines[line.Path] = line
	}
	return lines
}

// CheckUnlisted calls fault for everything below a folder that the manifest does not list, except its signature: a
// file, a link, or a folder without a listed file.
func (m Manifest) CheckUnlisted(dir string, fault func(name, says string) error) error {
	files, folders := map[string]bool{ManifestFile: true, SignatureFile: true}, map[string]bool{".": true}
	for _, line := range m.Files {
		files[line.Path] = true
		for parent := parentPath(line.Path); parent != ""; parent = parentPath(parent) {
			folders[parent] = true
		}
	}
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		switch {
		case files[name] || entry.IsDir() && folders[name]: // a folder in place of a file is found when that file is checked
			return nil
		case entry.IsDir():
			if err := fault(name, "is a folder of no file that manifest.json lists: it was added"); err != nil {
				return err
			}
			return fs.SkipDir
		}
		return fault(name, "is not listed in manifest.json: it was added")
	})
}

// parentPath returns the folder of a slash-separated path, "" for one in the top folder of the release.
func parentPath(path string) string { return path[:max(strings.LastIndexByte(path, '/'), 0)] }

// Drawn returns the sorted digests of all drawn files, as the manifest lists them.
func (m Manifest) Drawn() []string {
	var all []string
	for _, line := range m.Files {
		if strings.HasPrefix(line.Path, "measurements/") || strings.HasPrefix(line.Path, "rounds/") {
			all = append(all, line.Path+" "+line.SHA256)
		}
	}
	slices.Sort(all)
	return all
}

// MaxReason is the greatest length of a reason, in bytes.
const MaxReason = 500

// IsReason reports whether a text is one line of visible characters.
func IsReason(text string) bool {
	hidden := func(c rune) bool { return !unicode.IsGraphic(c) }
	return strings.TrimSpace(text) != "" && len(text) <= MaxReason && !strings.ContainsFunc(text, hidden)
}

// FolderName returns the name of the folder of a revision of a release: NAME, NAME-r2, NAME-r3. Numbers 0 and 1 are
// the first publication.
func FolderName(release string, revision int) string {
	if revision > 1 {
		return fmt.Sprintf("%s-r%d", release, revision)
	}
	return release
}
