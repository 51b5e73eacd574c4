package holder

// This file holds Roll, which says who takes part in one sum.

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dprelease/dprelease/internal/canonical"
)

const (
	rollFormat   = "dprelease.roll/1"
	maxHolders   = 1000
	maxNameBytes = 100
)

// Roll says who takes part in one sum, of the answers to one plan. Masks are of one roll with its nonces: a change of
// anything in it changes all masks.
type Roll struct {
	PlanHash string               // SHA-256 of the plan, in hexadecimal
	Holders  []string             // names, sorted
	Keys     map[string]PublicKey // by name
	// Nonces are by name what each holder has drawn at random for the one vector of answers that it masks; nil before
	// all have signed.
	Nonces map[string][]byte
}

// NonceBytes is the length of a nonce.
const NonceBytes = 32

// NewRoll returns the roll of a plan and the holders with these keys. It returns the errors of [Roll.Validate].
func NewRoll(planHash string, keys map[string]PublicKey) (Roll, error) {
	r := Roll{PlanHash: planHash, Holders: slices.Sorted(maps.Keys(keys)), Keys: maps.Clone(keys)}
	return r, r.Validate()
}

// Validate returns an error unless the plan hash is one, there are 2 to 1000 holders, their names are sorted, distinct,
// printable and of at most 100 bytes, and each has a key, of which no part is another's.
func (r Roll) Validate() error {
	if err := checkHash(r.PlanHash); err != nil {
		return fmt.Errorf("the roll's plan hash: %w", err)
	}
	switch n := len(r.Holders); {
	case n < 2:
		return errors.New("a sum needs at least two holders: the only one's numbers would be open")
	case n > maxHolders:
		return fmt.Errorf("the roll has %d holders, and at most %d can take part in a sum", n, maxHolders)
	case len(r.Keys) != n:
		return fmt.Errorf("the roll has %d holders and %d keys", n, len(r.Keys))
	}
	halves := map[[halfBytes]byte]string{}
	for i, name := range r.Holders {
		if err := checkName(name); err != nil {
			return err
		}
		if i > 0 && name <= r.Holders[i-1] {
			return fmt.Errorf("the holders of the roll must be sorted and distinct: %q comes after %q", name,
				r.Holders[i-1])
		}
		key, ok := r.Keys[name]
		if !ok || key.IsZero() {
			return fmt.Errorf("the roll has no key of %q", name)
		}
		for _, half := range [][halfBytes]byte{key.signing, key.agreeing} {
			if other, ok := halves[half]; ok {
				return fmt.Errorf("%q and %q have the same key: each holder makes its own", other, name)
			}
			halves[half] = name
		}
	}
	return nil
}

// checkHash returns an error unless a text is a SHA-256 in lower-case hexadecimal.
func checkHash(text string) error {
	if b, err := hex.DecodeString(text); err != nil || len(b) != sha256.Size || strings.ToLower(text) != text {
		return errors.New("expected 64 hexadecimal digits")
	}
	return nil
}

// checkName returns an error for a name that two people could not tell from another, or not read.
func checkName(name string) error {
	if name == "" || len(name) > maxNameBytes || !utf8.ValidString(name) || name != strings.TrimSpace(name) ||
		strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Errorf("a holder's name has 1 to %d bytes, printable and without spaces around it", maxNameBytes)
	}
	return nil
}

// rollFile is a roll as its file has it.
type rollFile struct {
	Format   string       `json:"format"`
	PlanHash string       `json:"plan_hash"`
	Holders  []rollHolder `json:"holders"`
}

type rollHolder struct {
	Name  string    `json:"name"`
	Key   PublicKey `json:"key"`
	Nonce []byte    `json:"nonce,omitempty"`
}

// Bytes returns the roll's file: indented JSON in declared field order, with a closing newline. Equal rolls have equal
// bytes.
func (r Roll) Bytes() []byte {
	f := rollFile{rollFormat, r.PlanHash, []rollHolder{}}
	for _, name := range r.Holders {
		f.Holders = append(f.Holders, rollHolder{name, r.Keys[name], r.Nonces[name]})
	}
	return canonical.Must(canonical.Indented(f))
}

// WithNonces returns the roll with the nonces of all its holders. It returns an error if one is missing.
func (r Roll) WithNonces(nonces map[string][]byte) (Roll, error) {
	for _, name := range r.Holders {
		if len(nonces[name]) != NonceBytes {
			return Roll{}, fmt.Errorf("the roll has no nonce of %q", name)
		}
	}
	if len(nonces) != len(r.Holders) {
		return Roll{}, errors.New("there are nonces of others than those on the roll")
	}
	r.Nonces = maps.Clone(nonces)
	return r, nil
}

// Hash returns the roll hash: SHA-256 of [Roll.Bytes], in hexadecimal.
func (r Roll) Hash() string {
	h := sha256.Sum256(r.Bytes())
	return hex.EncodeToString(h[:])
}

// checkKey returns an error unless a key is the holder's in the roll, and the roll is valid.
func (r Roll) checkKey(key Key, holder string) error {
	if err := r.Validate(); err != nil {
		return err
	}
	listed, ok := r.Keys[holder]
	switch {
	case !ok:
		return fmt.Errorf("the roll has no holder %q", holder)
	case key.Public() != listed:
		return fmt.Errorf("the key is not the one that the roll has of %q", holder)
	}
	return nil
}

// Sign returns the holder's signature of a roll without nonces and of its own nonce, by which it agrees to mask one
// vector of answers for this roll. It returns an error unless the roll is valid and the key is the holder's in it.
func (r Roll) Sign(key Key, holder string, nonce []byte) ([]byte, error) {
	if err := r.checkKey(key, holder); err != nil {
		return nil, err
	}
	return key.sign("roll", append(r.Bytes(), nonce...))
}

// Verify returns an error unless the roll is valid and the signature is the holder's, of this roll and nonce.
func (r Roll) Verify(holder string, nonce, signature []byte) error {
	if err := r.Validate(); err != nil {
		return err
	}
	key, ok := r.Keys[holder]
	if !ok {
		return fmt.Errorf("the roll has no holder %q", holder)
	}
	if !key.verifies("roll", append(r.Bytes(), nonce...), signature) {
		return fmt.Errorf("the signature is not by %q, or not of this roll", holder)
	}
	return nil
}

// SignWithdrawal signs that a holder takes no part in the sum: that its share has not left it, and never will. It
// returns an error unless the roll is valid and the key is the holder's in it.
func (r Roll) SignWithdrawal(key Key, holder string) ([]byte, error) {
	if err := r.checkKey(key, holder); err != nil {
		return nil, err
	}
	return key.sign("withdrawal", r.Bytes())
}

// Without returns the roll of those who are left when some have withdrawn, each with its signature under this roll. It
// returns an error if a signature is not the holder's, and if fewer than two are left.
func (r Roll) Without(withdrawn map[string][]byte) (Roll, error) {
	keys := maps.Clone(r.Keys)
	for holder, signature := range withdrawn {
		key, ok := r.Keys[holder]
		if !ok {
			return Roll{}, fmt.Errorf("the roll has no holder %q", holder)
		}
		if !key.verifies("withdrawal", r.Bytes(), signature) {
			return Roll{}, fmt.Errorf("%q has not signed that it withdraws from this roll", holder)
		}
		delete(keys, holder)
	}
	return NewRoll(r.PlanHash, keys)
}

// SignShare signs what a holder has sealed as its share for this roll: the hash of its seal, and the seal of the share
// that it has drawn for the plan first, which is the same unless the answers were masked anew. It returns an error
// unless the roll is valid and the key is the holder's in it.
func (r Roll) SignShare(key Key, holder, seal, drawn string) ([]byte, error) {
	if err := r.checkKey(key, holder); err != nil {
		return nil, err
	}
	return key.sign("share", r.shareMessage(holder, seal, drawn))
}

// VerifyShare returns an error unless the signature is the holder's, of a share with these seals, for this roll.
func (r Roll) VerifyShare(holder, seal, drawn string, signature []byte) error {
	key, ok := r.Keys[holder]
	if !ok {
		return fmt.Errorf("the roll has no holder %q", holder)
	}
	if !key.verifies("share", r.shareMessage(holder, seal, drawn), signature) {
		return fmt.Errorf("its signature is not by %q, or not of this share", holder)
	}
	return nil
}

// SignAnswer signs a holder's masked values as its answer to what is asked of all holders on this roll, in a text
// without line ends. It returns an error unless the roll is valid and the key is the holder's in it.
func (r Roll) SignAnswer(key Key, holder, asked string, masked []int64) ([]byte, error) {
	if err := r.checkKey(key, holder); err != nil {
		return nil, err
	}
	return key.sign("answer", r.answerMessage(holder, asked, masked))
}

// VerifyAnswer returns an error unless the signature is the holder's, of these values, as its answer to this on this
// roll.
func (r Roll) VerifyAnswer(holder, asked string, masked []int64, signature []byte) error {
	key, ok := r.Keys[holder]
	if !ok {
		return fmt.Errorf("the roll has no holder %q", holder)
	}
	if !key.verifies("answer", r.answerMessage(holder, asked, masked), signature) {
		return fmt.Errorf("its signature is not by %q, or not of an answer to what is asked", holder)
	}
	return nil
}

// answerMessage returns what is signed of an answer. No part but the last can have a line end.
func (r Roll) answerMessage(holder, asked string, masked []int64) []byte {
	message := []byte(strings.Join([]string{r.Hash(), holder, asked, ""}, "\n"))
	for _, x := range masked {
		message = binary.LittleEndian.AppendUint64(message, uint64(x))
	}
	return message
}

// shareMessage returns what is signed of a share. No part can have a line end.
func (r Roll) shareMessage(holder, seal, drawn string) []byte {
	return []byte(strings.Join([]string{r.Hash(), holder, seal, drawn}, "\n"))
}
