package measured

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/dprelease/dprelease/internal/canonical"
	"github.com/dprelease/dprelease/internal/regular"
	"github.com/dprelease/dprelease/plan/compiled"
)

// This file holds what several holders add to a sealed folder: in the folder of one of them, whose answers are masked,
// who it is; in the folder of their sum, who made it.

// Names of the files of holders in a sealed folder.
const (
	ShareFile      = "share.json"   // of one holder
	HoldersFile    = "holders.json" // of the sum
	ShareSignature = "share.sig"    // of one holder, under the seal; the only file that is not in it
)

// Share says whose answers a folder has: those of one holder, masked for the sum with the others on a roll.
type Share struct {
	Holder string `json:"holder"`
	Roll   string `json:"roll"` // its hash
	// Nonces are, by name, those of the holders on the roll.
	Nonces map[string][]byte `json:"nonces"`
	// Withdrawn are the holders of the plan that are not on the roll.
	Withdrawn []Withdrawal `json:"withdrawn,omitempty"`
	// Drawn is the [SealHash] of the share in which the holder sealed its answers when it drew them, if these are the
	// same answers, masked anew for another roll; "" if they were drawn for this share.
	Drawn string `json:"drawn,omitempty"`
}

// Withdrawal says that a holder takes no part, with its signature under the roll of all holders.
type Withdrawal struct {
	Holder    string `json:"holder"`
	Signature []byte `json:"signature"`
}

// Held is what the folder of a sum says of a holder: of its share, or that it has withdrawn.
type Held struct {
	Holder    string          `json:"holder"`
	Withdrawn bool            `json:"withdrawn,omitempty"`
	Nonce     []byte          `json:"nonce,omitempty"`   // of the holder on the roll
	Seal      string          `json:"seal,omitempty"`    // the [SealHash] of the share
	Drawn     string          `json:"drawn,omitempty"`   // as in the share
	Signature []byte          `json:"signature"`         // by the holder: of its share, or of its withdrawal
	Receipt   json.RawMessage `json:"receipt,omitempty"` // of the debit in the holder's ledger
}

// DrawnSealHash returns the seal under which the answers in a sealed folder were drawn: its own ([SealHash]), unless it
// has answers of a holder that were masked anew.
func DrawnSealHash(dir string) (string, error) {
	s, err := ReadShare(dir)
	if err == nil && s.Drawn != "" {
		return s.Drawn, nil
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return SealHash(dir)
}

// ReadShare reads what a share says of itself, without checking anything.
func ReadShare(dir string) (s Share, err error) {
	text, err := regular.Read(filepath.Join(dir, ShareFile), mostSeal)
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	return s, err
}

// DrawnSeal returns the seal under which a holder's answers were drawn.
func (h Held) DrawnSeal() string { return cmp.Or(h.Drawn, h.Seal) }

// SetHolders sets what a folder says of the holders. The measurements then have the noise of those who took part, which
// is less than planned if some have withdrawn.
func (s *Sealed) SetHolders(all []Held) {
	s.Holders = all
	s.Plan = MeasuredBy(s.Plan, all)
	for i := range s.Measured {
		s.Measured[i].Measurement = s.Plan.Measurements[i]
	}
}

// TookPart returns how many holders took part in the sum.
func (s *Sealed) TookPart() int { return len(s.Holders) - len(withdrawnOf(s.Holders)) }

func withdrawnOf(all []Held) (names []string) {
	for _, h := range all {
		if h.Withdrawn {
			names = append(names, h.Holder)
		}
	}
	return names
}

// MeasuredBy returns a plan with the noise of those holders who took part. Fewer than the guarantee needs are none of
// its holders, and the plan is returned as it is.
func MeasuredBy(p *compiled.Compiled, all []Held) *compiled.Compiled {
	withdrawn := withdrawnOf(all)
	if withdrawn == nil || len(all)-len(withdrawn) < p.Release().Holders.Trusted {
		return p
	}
	return p.WithoutHolders(withdrawn)
}

// addHolders writes the files of holders.
func (s *Sealed) addHolders(add func(name string, b []byte) error) error {
	if s.Share != nil {
		return addJSON(add, ShareFile, s.Share)
	}
	if s.Holders != nil {
		return addJSON(add, HoldersFile, s.Holders)
	}
	return nil
}

func addJSON(add func(name string, b []byte) error, name string, content any) error {
	b, err := canonical.Indented(content)
	if err != nil {
		return err
	}
	return add(name, b)
}

// readHolders reads the files of holders. A folder of a release of several holders has one of them.
func (s *Sealed) readHolders(files seal) error {
	_, isShare := files.hashes[ShareFile]
	_, isSum := files.hashes[HoldersFile]
	switch held := s.Plan.Release().Holders != nil; {
	case held && isShare == isSum, !held && (isShare || isSum):
		return errors.New("it is neither the share of a holder nor the sum of several, or it should be")
	case isShare:
		return files.readJSON(ShareFile, &s.Share)
	case isSum:
		return files.readJSON(HoldersFile, &s.Holders) // see SetHolders
	}
	return nil
}

// readJSON reads a JSON file, which must be as this package writes it.
func (s seal) readJSON(name string, into any) error {
	text, err := s.readFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return errors.New(s.pathOf(name) + " cannot be read")
	}
	if again, err := canonical.Indented(into); err != nil || string(again) != string(text) {
		return errors.New(s.pathOf(name) + " is not as it was written")
	}
	return nil
}
