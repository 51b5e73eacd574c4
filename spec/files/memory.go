package files

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"slices"
)

// This file holds the public files that a plan holds.

// inMemory opens the files that a source holds.
type inMemory struct {
	texts map[string]string
	noted map[string][]Digest
}

// InMemory opens the files whose texts and digests are given, by their paths.
func InMemory(texts map[string]string, digests map[string][]Digest) Opener {
	return inMemory{texts, digests}
}

func (m inMemory) KeepFrom([]Confidential, bool) {}

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

// Table reads the extract of a public table, which is a text whatever it was taken from.
func (m inMemory) Table(name string, _ Format) (*Unpacked, error) {
	text, err := m.Text(name, mostTable)
	return &Unpacked{Text: text}, err
}

// Digests are those that the source notes, where they can be those of a file, so that what was edited is not what its
// plan leads to.
func (m inMemory) Digests(name string) []Digest {
	noted := m.noted[name]
	unsound := func(d Digest) bool {
		raw, err := hex.DecodeString(d.SHA256)
		return err != nil || len(raw) != sha256.Size || d.Size < 0
	}
	if len(noted) == 0 || len(noted) > 2 || slices.ContainsFunc(noted, unsound) {
		return []Digest{DigestText(m.texts[name])}
	}
	return noted
}
