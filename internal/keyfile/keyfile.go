// Package keyfile reads and writes the files of keys: PEM, as openssl writes it, PKCS #8 for private keys and PKIX for
// public ones, or a text of the caller's own.
//
// It never reads a private key that others than its owner can read, and it replaces no file.
package keyfile

import (
	"crypto"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/dprelease/dprelease/internal/regular"
)

const (
	privatePEM = "PRIVATE KEY"
	publicPEM  = "PUBLIC KEY"
	// MaxBytes bounds what is read of a key file.
	MaxBytes = 1 << 14
)

// Kind is a kind of key, in the words of messages.
type Kind struct {
	Made string // the command that makes one, NAME and NAME.pub
	Else string // another program that writes one
}

// Read reads a small file. A missing one is an error that names the command that makes such files.
func Read(path string, kind Kind) ([]byte, error) {
	b, err := regular.Read(path, MaxBytes)
	var large *regular.TooLarge
	if errors.Is(err, regular.ErrNotRegular) || errors.As(err, &large) {
		return nil, fmt.Errorf("%s is not a key file", path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: there is no such key file: `%s NAME` writes the private key to NAME and the "+
			"public one to NAME.pub",
			path, kind.Made)
	}
	return b, err
}

// ParsePublic returns the key in the text of a public key file, and whether there is one.
func ParsePublic(text string) (key any, ok bool) {
	block, rest := pem.Decode([]byte(strings.TrimSpace(text)))
	if block == nil || block.Type != publicPEM || len(strings.TrimSpace(string(rest))) > 0 {
		return nil, false
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	return key, err == nil
}

// IsPrivate reports whether the text of a file is a private key, and overwrites what was decoded of it.
func IsPrivate(text []byte) bool {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != privatePEM {
		return false
	}
	clear(block.Bytes)
	return true
}

// ReadPrivate reads a private key file. It refuses one that others than its owner can read, and explains when the file
// is a public key.
func ReadPrivate(path string, kind Kind, isPublic func(text string) bool) (key any, err error) {
	b, err := ReadPrivateText(path, kind, isPublic)
	if err != nil {
		return nil, err
	}
	defer clear(b)
	block, rest := pem.Decode(b)
	if block == nil || block.Type != privatePEM || len(strings.TrimSpace(string(rest))) > 0 {
		return nil, fmt.Errorf("%s is not a private key: expected PEM as `%s` or `%s` writes it", path, kind.Made,
			kind.Else)
	}
	defer clear(block.Bytes)
	if key, err = x509.ParsePKCS8PrivateKey(block.Bytes); err != nil {
		return nil, nil //nolint:nilerr // of no kind: the caller says which it wants
	}
	return key, nil
}

// ReadPrivateText is [ReadPrivate] for keys whose text the caller parses. Whoever is done with the text clears it.
func ReadPrivateText(path string, kind Kind, isPublic func(text string) bool) (text []byte, err error) {
	b, err := Read(path, kind)
	if err != nil {
		return nil, err
	}
	if isPublic(string(b)) {
		return nil, fmt.Errorf("%s is a public key: give the private key that belongs to it%s", path,
			suggestWithout(path, ".pub"))
	}
	if err := checkPrivate(path); err != nil {
		clear(b)
		return nil, err
	}
	return b, nil
}

// suggestWithout returns ", " and the path without its ending, or "" if it does not have that ending.
func suggestWithout(path, ending string) string {
	if name, has := strings.CutSuffix(path, ending); has && name != "" {
		return ", " + name
	}
	return ""
}

// Write writes a private key to path, for its owner alone, and its public key to path.pub.
func Write(path string, private crypto.PrivateKey, public crypto.PublicKey) error {
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return err
	}
	defer clear(secret)
	open, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: privatePEM, Bytes: secret})
	defer clear(text)
	return WriteTexts(path, text, pem.EncodeToMemory(&pem.Block{Type: publicPEM, Bytes: open}))
}

// WriteTexts writes the text of a private key to path, for its owner alone, and the text of its public key to path.pub.
func WriteTexts(path string, private, public []byte) error {
	if _, err := os.Lstat(path + ".pub"); err == nil {
		return fmt.Errorf("%s.pub is there already: choose another name", path)
	}
	if err := writeNew(path, 0o600, private); err != nil {
		return err
	}
	if err := writeNew(path+".pub", 0o644, public); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// writeNew writes and syncs a file that must not exist.
func writeNew(path string, mode os.FileMode, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already: choose another name", path)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// Fingerprint returns the first 16 bytes of the SHA-256 of bytes, in groups of four hexadecimal digits: people read it
// to each other to confirm that they mean the same. Nobody can find other bytes with the same fingerprint.
func Fingerprint(b []byte) string {
	h := sha256.Sum256(b)
	digits := hex.EncodeToString(h[:16])
	var groups []string
	for i := 0; i < len(digits); i += 4 {
		groups = append(groups, digits[i:i+4])
	}
	return strings.Join(groups, " ")
}
