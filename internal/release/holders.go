package release

// This file holds a release of several holders: each signs the roll, measures its part and seals a share, and whoever
// has all shares adds them up.

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/dprelease/dprelease/histogram/holder"
	"github.com/dprelease/dprelease/internal/canonical"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/regular"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan/compiled"
)

// The formats of the files with a holder's signature: that it takes part with those on a roll, and that it takes no
// part.
const (
	rollFormat       = "dprelease.rollsignature/1"
	withdrawalFormat = "dprelease.withdrawal/1"
)

// signatureBytes bounds what is read of a file with a signature.
const signatureBytes = 1 << 16

// signatureFile is a file with a holder's signature.
type signatureFile struct {
	Format    string `json:"format"`
	Release   string `json:"release"`
	Holder    string `json:"holder"`
	Roll      string `json:"roll"` // its hash, without nonces; of a withdrawal, that of all holders
	Nonce     []byte `json:"nonce,omitempty"`
	Signature []byte `json:"signature"`
}

// signatureName returns the name of the file with a holder's signature in a format.
func signatureName(p *compiled.Compiled, holder, format string) string {
	return p.Name + "." + holder + map[string]string{rollFormat: ".roll", withdrawalFormat: ".withdrawn"}[format]
}

// ShareFolder returns the folder of a holder's share for all holders of the plan.
func ShareFolder(out, release, holder string) string {
	return filepath.Join(out, release+"."+holder+".share")
}

// refuseHolder returns an error about holders and a plan.
func refuseHolder(p *compiled.Compiled, why string) error {
	plan := "the plan of " + p.Name
	return &verdict.Unusable{File: plan, Err: errors.New(plan + " " + why)}
}

// RollOf returns the roll of all holders of a plan ([published.RollOf]).
func RollOf(p *compiled.Compiled) (holder.Roll, error) {
	roll, err := published.RollOf(p)
	if errors.Is(err, published.ErrNoHolders) {
		return roll, refuseHolder(p, "has no holders: it is measured in one place")
	} else if err != nil {
		return roll, refuseHolder(p, "cannot be measured by its holders: "+err.Error())
	}
	return roll, nil
}

// participation says who takes part in the sum of a plan, and who has withdrawn.
type participation struct {
	roll      holder.Roll // of those who take part, without nonces
	withdrawn []measured.Withdrawal
}

// participationIn returns who takes part by the withdrawals in a folder.
func participationIn(p *compiled.Compiled, dir string) (participation, error) {
	all, err := RollOf(p)
	if err != nil {
		return participation{}, err
	}
	var withdrawn []measured.Withdrawal
	for _, name := range all.Holders {
		s, path, err := readSignature(p, dir, name, withdrawalFormat)
		if err != nil {
			return participation{}, err
		}
		if s == nil {
			continue
		}
		if s.Roll != all.Hash() {
			return participation{}, refuseSignature(path, name+" withdrew from another plan")
		}
		withdrawn = append(withdrawn, measured.Withdrawal{Holder: name, Signature: s.Signature})
	}
	return participationOf(p, withdrawn)
}

// participationOf returns who takes part if some have withdrawn. It returns an error unless they have signed that.
func participationOf(p *compiled.Compiled, withdrawn []measured.Withdrawal) (participation, error) {
	signatures := map[string][]byte{}
	for _, w := range withdrawn {
		signatures[w.Holder] = w.Signature
	}
	if len(signatures) == 0 {
		roll, err := RollOf(p)
		return participation{roll: roll}, err
	}
	roll, err := published.RollWithout(p, signatures)
	if err != nil {
		return participation{}, refuseHolder(p, "cannot be measured by the holders that are left: "+err.Error())
	}
	return participation{roll, withdrawn}, nil
}

func writeSignature(p *compiled.Compiled, out string, s signatureFile) (path string, err error) {
	text, err := canonical.Indented(s)
	if err != nil {
		return "", err
	}
	if err := durable.MakeFolder(out, 0o755); err != nil {
		return "", fmt.Errorf("output folder: %w", err)
	}
	name := signatureName(p, s.Holder, s.Format)
	return filepath.Join(out, name), durable.ReplaceFile(out, name, text)
}

// readSignature reads the signature of a holder in a folder; nil if there is none.
func readSignature(p *compiled.Compiled, dir, name, format string) (s *signatureFile, path string, err error) {
	path = filepath.Join(dir, signatureName(p, name, format))
	if there, err := durable.Exists(path); err != nil || !there {
		return nil, path, err
	}
	text, err := regular.Read(path, signatureBytes)
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil || s.Format != format || s.Holder != name {
		return nil, path, refuseSignature(path, "this is no signature of "+name+" that dprelease holder has written")
	}
	return s, path, nil
}

func refuseSignature(path, why string) error {
	return &verdict.Unusable{File: path, Err: fmt.Errorf("%s: %s", path, why)}
}
