package release

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/verdict"
)

// Revision is a publication of the same measurements, by other software or in
// other words: no new noise, no new cost. The zero Revision is the first.
type Revision struct {
	Number int    // 0 and 1: the first
	Reason string // why there is another, one line
}

// maxReason bounds a reason, in bytes.
const maxReason = 500

// isReason tells that a text is one line of visible characters.
func isReason(text string) bool {
	hidden := func(c rune) bool { return !unicode.IsGraphic(c) }
	return strings.TrimSpace(text) != "" && len(text) <= maxReason && !strings.ContainsFunc(text, hidden)
}

// place is where the revision is published: NAME, NAME-r2, NAME-r3.
func (r Revision) place(out, name string) string {
	if r.Number > 1 {
		name = fmt.Sprintf("%s-r%d", name, r.Number)
	}
	return filepath.Join(out, name)
}

// manifest begins the manifest of the revision. The one before it must be in the
// same folder, of the same measurements. Errors: *[verdict.Unusable]; *[Altered] where the one before it was changed.
func (r Revision) manifest(out string, s *measured.Sealed) (manifest, error) {
	if r.Number <= 1 {
		if r.Number < 0 || r.Reason != "" {
			return manifest{}, &verdict.Unusable{File: "--reason", Err: errors.New("only a revision has a reason: give --revision 2 or a later number")}
		}
		return manifest{}, nil
	}
	if !isReason(r.Reason) {
		return manifest{}, &verdict.Unusable{File: "--reason", Err: fmt.Errorf("a revision says in one line of at most %d bytes why it replaces the one before it", maxReason)}
	}
	place := Revision{Number: r.Number - 1}.place(out, s.Plan.Name)
	if there, err := exists(place); err == nil && !there {
		return manifest{}, &verdict.Unusable{File: "--revision", Err: fmt.Errorf("revision %d replaces the publication before it, and there is no %s: publish that first, or name the folder that it is in (--out)", r.Number, place)}
	}
	replaces, err := openPublished(place)
	if err != nil {
		return manifest{}, fmt.Errorf("revision %d replaces what was published before it: %w", r.Number, err)
	}
	before := replaces.manifest
	draw, err := digestsOf(s)
	if err != nil {
		return manifest{}, err
	}
	if before.PlanHash != s.Plan.Hash() || !slices.Equal(before.measurements(), draw) {
		return manifest{}, &verdict.Unusable{File: place, Err: errors.New("holds other measurements: a revision publishes the same ones again")}
	}
	hash := sha256.Sum256(replaces.text)
	return manifest{
		Revision: r.Number, Reason: r.Reason,
		Replaces: &replaced{Folder: filepath.Base(place), ManifestSHA256: hex.EncodeToString(hash[:]), Software: before.Software},
	}, nil
}

// measurements are the digests of all that was drawn, as a manifest lists them.
func (m manifest) measurements() []string {
	var all []string
	for _, line := range m.Files {
		if strings.HasPrefix(line.Path, "measurements/") || strings.HasPrefix(line.Path, "rounds/") {
			all = append(all, line.Path+" "+line.SHA256)
		}
	}
	slices.Sort(all)
	return all
}

// digestsOf are the same of a sealed folder.
func digestsOf(s *measured.Sealed) ([]string, error) {
	var all []string
	err := s.Drawn(func(name string, b []byte) error {
		hash := sha256.Sum256(b)
		all = append(all, name+" "+hex.EncodeToString(hash[:]))
		return nil
	})
	slices.Sort(all)
	return all, err
}
