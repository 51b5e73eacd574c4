package release

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/verdict"
)

// Revision is a publication of the same measurements, by other software or in other words: no new noise, no new cost.
// The zero Revision is the first publication.
type Revision struct {
	Number int    // 0 and 1: the first
	Reason string // for another publication, one line
}

// place returns the folder of the revision: NAME, NAME-r2, NAME-r3.
func (r Revision) place(out, name string) string {
	return filepath.Join(out, published.FolderName(name, r.Number))
}

// newManifest returns the beginning of the revision's manifest. The previous publication must be in the same folder
// and have the same measurements. Errors: *[verdict.Unusable]; *[published.Altered] if the previous publication was
// changed.
func (r Revision) newManifest(out string, s *measured.Sealed) (published.Manifest, error) {
	if r.Number <= 1 {
		if r.Number < 0 || r.Reason != "" {
			return published.Manifest{},
				&verdict.Unusable{File: "--reason",
					Err: errors.New("only a revision has a reason: give --revision 2 or a later number")}
		}
		return published.Manifest{}, nil
	}
	if !published.IsReason(r.Reason) {
		return published.Manifest{},
			&verdict.Unusable{File: "--reason",
				Err: fmt.Errorf("a revision says in one line of at most %d bytes why it replaces the one before it",
					published.MaxReason)}
	}
	place := Revision{Number: r.Number - 1}.place(out, s.Plan.Name)
	if there, err := durable.Exists(place); err == nil && !there {
		return published.Manifest{},
			&verdict.Unusable{File: "--revision",
				Err: fmt.Errorf("revision %d replaces the publication before it, and there is no %s: publish that "+
					"first, or name the folder that it is in (--out)", r.Number, place)}
	}
	replaces, err := published.OpenFolder(place)
	if err != nil {
		return published.Manifest{}, fmt.Errorf("revision %d replaces what was published before it: %w", r.Number, err)
	}
	before := replaces.Manifest
	draw, err := drawnDigests(s)
	if err != nil {
		return published.Manifest{}, err
	}
	if before.PlanHash != s.Plan.Hash() || !slices.Equal(before.Drawn(), draw) {
		return published.Manifest{},
			&verdict.Unusable{File: place,
				Err: errors.New("holds other measurements: a revision publishes the same ones again")}
	}
	hash := sha256.Sum256(replaces.ManifestText)
	return published.Manifest{
		Revision: r.Number, Reason: r.Reason,
		Replaces: &published.Replaced{Folder: filepath.Base(place), ManifestSHA256: hex.EncodeToString(hash[:]),
			Software: before.Software},
	}, nil
}

// drawnDigests returns the sorted digests of the drawn files of a sealed folder, in the form of
// [published.Manifest.Drawn].
func drawnDigests(s *measured.Sealed) ([]string, error) {
	var all []string
	err := s.Drawn(func(name string, b []byte) error {
		hash := sha256.Sum256(b)
		all = append(all, name+" "+hex.EncodeToString(hash[:]))
		return nil
	})
	slices.Sort(all)
	return all, err
}
