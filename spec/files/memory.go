package files

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"slices"
)

// This file opens the public files that a plan contains.

// inMemory opens the files that a source contains.
type inMemory struct {
	texts   map[string]string
	digests map[string][]Digest
}

// InMemory returns an opener of files whose texts and digests are given, by their paths.
func InMemory(texts map[string]string, digests map[string][]Digest) Opener {
	return inMemory{texts, digests}
}

func (m inMemory) RefuseConfidential([]Confidential, bool) {}

func (m inMemory) Text(name string, most int64) (string, error) {
	text, found := m.texts[name]
	switch {
	case !found:
		return "", fs.ErrNotExist
	case int64(len(text)) > most:
		return "", tooLarge(most)
	}
	return text, checkKeys(text)
}

// Table reads the extract of a public table, which is a text whatever the format of the table was.
func (m inMemory) Table(name string, _ Format) (*Unpacked, error) {
	text, err := m.Text(name, mostTable)
	return &Unpacked{Text: text}, err
}

// Digests returns the digests that the source records if they have the form of digests. For any others it returns the
// digest of the text, so that an edited source does not reproduce its plan.
func (m inMemory) Digests(name string) []Digest {
	recorded := m.digests[name]
	isInvalid := func(d Digest) bool {
		raw, err := hex.DecodeString(d.SHA256)
		return err != nil || len(raw) != sha256.Size || d.Size < 0
	}
	if len(recorded) == 0 || len(recorded) > 2 || slices.ContainsFunc(recorded, isInvalid) {
		return []Digest{DigestText(m.texts[name])}
	}
	return recorded
}
