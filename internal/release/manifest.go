package release

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/regular"
	"github.com/dprelease/dprelease/internal/sign"
	"github.com/dprelease/dprelease/plan"
)

const (
	manifestFile   = "manifest.json"
	manifestFormat = "dprelease.manifest/1"
)

// manifest lists every other file of a release with its SHA-256, but for its own
// signature.
type manifest struct {
	Format   string         `json:"format"`
	Release  string         `json:"release"`
	Revision int            `json:"revision,omitempty"` // of the publication; absent for the first
	Reason   string         `json:"reason,omitempty"`   // of a revision
	Replaces *replaced      `json:"replaces,omitempty"` // by a revision
	Rows     redrawn        `json:"rows,omitempty"`     // of microdata, where the publication asked for another number of them
	Methods  remade         `json:"methods,omitempty"`  // of microdata, where the publication asked for another one
	Status   string         `json:"status"`
	PlanHash string         `json:"plan_hash"`
	Head     string         `json:"ledger_head"` // of the account's ledger, as of the debit
	Software string         `json:"software"`
	Files    []manifestLine `json:"files"`
}

// replaced names the publication that a revision replaces.
type replaced struct {
	Folder         string `json:"folder"`
	ManifestSHA256 string `json:"manifest_sha256"`
	Software       string `json:"software"`
}

type manifestLine struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// What a manifest names is printed to readers: a name or a version has no room for
// a sentence.
var (
	releaseForm  = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,99}$`)
	softwareForm = regexp.MustCompile(`^[0-9A-Za-z._+~-]{1,64}( [0-9A-Za-z._+~-]{1,64})?$`)
	sha256Form   = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// formed returns an error unless the manifest names its publication as
// writeManifest does: a first one, or a revision as [Revision] makes it.
func (m manifest) formed() error {
	switch {
	case !releaseForm.MatchString(m.Release):
		return fmt.Errorf("is of release %q, which is no name of a release", m.Release)
	case m.Status != statusText(ledger.Official) && m.Status != PracticeStatus && m.Status != rehearsalStatus:
		return fmt.Errorf("has status %q, which no release has", m.Status)
	case !softwareForm.MatchString(m.Software):
		return fmt.Errorf("names the software %q, which is no name and version", m.Software)
	case m.Rows.formed() != nil:
		return m.Rows.formed()
	case m.Methods.formed() != nil:
		return m.Methods.formed()
	case m.Revision == 0 && m.Reason == "" && m.Replaces == nil:
		return nil
	case m.Revision < 2:
		return fmt.Errorf("has revision %d with a reason or a predecessor, which a first publication has not", m.Revision)
	case !isReason(m.Reason):
		return fmt.Errorf("gives as the reason of revision %d what is not one line of at most %d bytes", m.Revision, maxReason)
	case m.Replaces == nil:
		return fmt.Errorf("does not say what revision %d replaces", m.Revision)
	}
	before := Revision{Number: m.Revision - 1}.place("", m.Release)
	switch r := m.Replaces; {
	case r.Folder != before:
		return fmt.Errorf("says that revision %d replaces %q, where %s is the one before it", m.Revision, r.Folder, before)
	case !sha256Form.MatchString(r.ManifestSHA256):
		return fmt.Errorf("gives as the SHA-256 of the manifest of %s what is none", before)
	case !softwareForm.MatchString(r.Software):
		return fmt.Errorf("names the software of %s %q, which is no name and version", before, r.Software)
	}
	return nil
}

// writeManifest closes a staging folder with the list of its files; m says which
// publication it is.
func writeManifest(out *staging, p *plan.Plan, record ledger.Record, m manifest) error {
	m.Format, m.Release, m.Status, m.PlanHash, m.Software = manifestFormat, p.Name, statusText(record.Status), p.Hash(), Software
	m.Head = record.Proof.Hash
	m.Files = slices.SortedFunc(slices.Values(out.lines), func(a, b manifestLine) int { return comparePaths(a.Path, b.Path) })
	b, err := indented(m)
	if err != nil {
		return err
	}
	return out.write(manifestFile, b)
}

// lineOf is the manifest's line of a file.
func lineOf(path string, b []byte) manifestLine {
	h := sha256.Sum256(b)
	return manifestLine{Path: path, Bytes: int64(len(b)), SHA256: hex.EncodeToString(h[:])}
}

// comparePaths orders slash-separated paths as [files] lists them: by their parts.
func comparePaths(a, b string) int {
	return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
}

// indented is a value as JSON that people read.
func indented(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}

// manifestSignature is the office's signature of a manifest.
type manifestSignature struct {
	Signer    sign.PublicKey `json:"signer"`
	Signature string         `json:"signature"` // purpose "manifest", over the bytes of manifest.json
}

const (
	signatureFile   = "manifest.sig"
	manifestPurpose = "manifest"
)

// signManifest writes the signature of the manifest in a folder beside it.
func signManifest(dir string, office sign.Key) error {
	text, err := regular.Read(filepath.Join(dir, manifestFile), mostManifest)
	if err != nil {
		return err
	}
	b, err := indented(manifestSignature{office.Public(), office.Sign(manifestPurpose, text)})
	if err != nil {
		return err
	}
	return replaceFile(dir, signatureFile, b)
}

// readManifest reads the manifest of a folder that may be of another plan or kind; [openPublished] is for reading what is in it.
func readManifest(place string) (m manifest, err error) {
	path := filepath.Join(place, manifestFile)
	b, err := regular.Read(path, mostManifest)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	if m.Format != manifestFormat {
		return m, fmt.Errorf("%s: format %q, expected %q", path, m.Format, manifestFormat)
	}
	return m, nil
}

// planned are the files of a release that its plan names: all but its papers and the
// answers to what was chosen while it was measured.
func planned(p *plan.Plan) []string {
	var names []string
	for _, t := range p.Tables {
		names = append(names, t.File())
	}
	for _, m := range p.Measurements {
		names = append(names, measured.Path(m.ID))
	}
	for _, s := range p.Synthetic {
		names = append(names, microdataFiles(s)...)
		if s.Adaptive() {
			names = append(names, measured.RoundsPath(s.Table))
		}
	}
	return names
}

// PracticeStatus marks what was drawn on a practice account.
const PracticeStatus = "PRACTICE, NOT A RELEASE"

// rehearsalStatus marks what was made of invented rows.
const rehearsalStatus = "REHEARSAL, MADE-UP DATA"

// statusText is how a status is written into every published file.
func statusText(s ledger.Status) string {
	switch s {
	case ledger.Official:
		return "RELEASE"
	case ledger.Practice:
		return PracticeStatus
	default:
		return rehearsalStatus
	}
}
