// Package sign makes and checks detached Ed25519 signatures (RFC 8032), by people who approve plans and by the office
// that keeps the account.
//
// It owns keys and their files: PEM, as openssl writes it, PKCS #8 for private keys and PKIX for public ones.
//
// It never prints a private key, never reads one that others than its owner can read, and never signs a message without
// a purpose.
package sign

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
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
	textPrefix = "ed25519:"
	privatePEM = "PRIVATE KEY"
	publicPEM  = "PUBLIC KEY"
	// maxKeyBytes bounds what is read of a key file.
	maxKeyBytes = 1 << 14
)

// PublicKey checks signatures. Two are equal (==) if they are the same key; the zero PublicKey is no key.
type PublicKey struct{ text string }

// IsZero reports whether there is no key.
func (k PublicKey) IsZero() bool { return k.text == "" }

// String returns the key in one word, "ed25519:" and 43 characters of base64, as in policies and signatures.
func (k PublicKey) String() string { return k.text }

// MarshalText returns String.
func (k PublicKey) MarshalText() ([]byte, error) { return []byte(k.text), nil }

// UnmarshalText reads what String writes; an empty text is no key.
func (k *PublicKey) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*k = PublicKey{}
		return nil
	}
	var err error
	*k, err = ParsePublicKey(string(b))
	return err
}

// Fingerprint returns the first 16 bytes of the SHA-256 of the key, in groups of four hexadecimal digits. Two people
// read it to each other to confirm that they mean the same key.
func (k PublicKey) Fingerprint() string {
	h := sha256.Sum256([]byte(k.text))
	digits := hex.EncodeToString(h[:16])
	var groups []string
	for i := 0; i < len(digits); i += 4 {
		groups = append(groups, digits[i:i+4])
	}
	return strings.Join(groups, " ")
}

// ParsePublicKey reads a public key in one word (see [PublicKey.String]) or in PEM.
func ParsePublicKey(text string) (PublicKey, error) {
	text = strings.TrimSpace(text)
	if word, ok := strings.CutPrefix(text, textPrefix); ok {
		b, err := base64.RawStdEncoding.Strict().DecodeString(word)
		if err != nil || len(b) != ed25519.PublicKeySize {
			return PublicKey{}, errors.New("a public key is ed25519: and 43 characters of base64")
		}
		return publicKey(b), nil
	}
	block, rest := pem.Decode([]byte(text))
	if block == nil || block.Type != publicPEM || len(strings.TrimSpace(string(rest))) > 0 {
		return PublicKey{}, errors.New(
			"not a public key: expected one word that begins with ed25519:, or PEM as `openssl pkey -pubout` writes it")
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	key, ok := parsed.(ed25519.PublicKey)
	if err != nil || !ok {
		return PublicKey{}, errors.New("not an Ed25519 public key")
	}
	return publicKey(key), nil
}

func publicKey(b []byte) PublicKey {
	return PublicKey{textPrefix + base64.RawStdEncoding.EncodeToString(b)}
}

// ReadPublicKey reads a public key file.
func ReadPublicKey(path string) (PublicKey, error) {
	b, err := readSmall(path)
	if err != nil {
		return PublicKey{}, err
	}
	if block, _ := pem.Decode(b); block != nil && block.Type == privatePEM {
		clear(block.Bytes)
		clear(b)
		return PublicKey{}, fmt.Errorf(
			"%s is a private key, which stays with its owner: give the public key, as `dprelease ledger key` writes it to NAME.pub", path)
	}
	k, err := ParsePublicKey(string(b))
	if err != nil {
		return k, fmt.Errorf("%s: %w", path, err)
	}
	return k, nil
}

// suggestWithout returns ", " and the path without its ending, or "" if it does not have that ending.
func suggestWithout(path, ending string) string {
	if name, has := strings.CutSuffix(path, ending); has && name != "" {
		return ", " + name
	}
	return ""
}

// Verify returns an error unless signature is the key's signature for this purpose and message.
func (k PublicKey) Verify(purpose string, message []byte, signature string) error {
	key, err := base64.RawStdEncoding.DecodeString(strings.TrimPrefix(k.text, textPrefix))
	if err != nil || len(key) != ed25519.PublicKeySize {
		return errors.New("there is no key to check the signature with")
	}
	s, err := base64.RawStdEncoding.Strict().DecodeString(signature)
	if err != nil || !ed25519.Verify(key, messageFor(purpose, message), s) {
		return fmt.Errorf("the signature is not by the key with the fingerprint %s", k.Fingerprint())
	}
	return nil
}

// Key signs. It prints only as its public key.
type Key struct{ private ed25519.PrivateKey }

// Public returns the key that checks the signatures of k.
func (k Key) Public() PublicKey { return publicKey(k.private.Public().(ed25519.PublicKey)) }

// String returns the public key.
func (k Key) String() string { return k.Public().String() }

// GoString returns the public key.
func (k Key) GoString() string { return k.String() }

// Sign returns the signature, in base64, of a message for a purpose. Ed25519 uses no randomness: the same message has
// the same signature.
func (k Key) Sign(purpose string, message []byte) string {
	return base64.RawStdEncoding.EncodeToString(ed25519.Sign(k.private, messageFor(purpose, message)))
}

// messageFor returns the bytes that are signed. They begin with the purpose, so a signature for one purpose is invalid
// for any other.
func messageFor(purpose string, message []byte) []byte {
	return append([]byte("dprelease "+purpose+"\x00"), message...)
}

// ReadKey reads a private key file. It refuses one that others than its owner can read, and explains when the file is a
// public key.
func ReadKey(path string) (Key, error) {
	b, err := readSmall(path)
	if err != nil {
		return Key{}, err
	}
	defer clear(b)
	if _, err := ParsePublicKey(string(b)); err == nil {
		return Key{}, fmt.Errorf("%s is a public key, which signs nothing: give the private key that belongs to it%s", path,
			suggestWithout(path, ".pub"))
	}
	if err := checkPrivate(path); err != nil {
		return Key{}, err
	}
	block, rest := pem.Decode(b)
	if block == nil || block.Type != privatePEM || len(strings.TrimSpace(string(rest))) > 0 {
		return Key{}, fmt.Errorf(
			"%s is not a private key: expected PEM as `dprelease ledger key` or `openssl genpkey -algorithm ed25519` writes it",
			path)
	}
	defer clear(block.Bytes)
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, ok := parsed.(ed25519.PrivateKey)
	if err != nil || !ok {
		return Key{}, fmt.Errorf("%s is not an Ed25519 private key", path)
	}
	return Key{key}, nil
}

// Generate generates a key and writes it to path, for its owner alone, and its public key to path.pub. It replaces no
// file.
func Generate(path string) (PublicKey, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return PublicKey{}, err
	}
	defer clear(private)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return PublicKey{}, err
	}
	defer clear(secret)
	open, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return PublicKey{}, err
	}
	if _, err := os.Lstat(path + ".pub"); err == nil {
		return PublicKey{}, fmt.Errorf("%s.pub is there already: choose another name", path)
	}
	if err := writeNew(path, 0o600, pem.EncodeToMemory(&pem.Block{Type: privatePEM, Bytes: secret})); err != nil {
		return PublicKey{}, err
	}
	if err := writeNew(path+".pub", 0o644, pem.EncodeToMemory(&pem.Block{Type: publicPEM, Bytes: open})); err != nil {
		return PublicKey{}, errors.Join(err, os.Remove(path))
	}
	return publicKey(public), nil
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

// readSmall reads a file of at most maxKeyBytes bytes.
func readSmall(path string) ([]byte, error) {
	b, err := regular.Read(path, maxKeyBytes)
	var large *regular.TooLarge
	if errors.Is(err, regular.ErrNotRegular) || errors.As(err, &large) {
		return nil, fmt.Errorf("%s is not a key file", path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: there is no such key file: `dprelease ledger key NAME` writes the private key to NAME and the public one to NAME.pub", path)
	}
	return b, err
}
