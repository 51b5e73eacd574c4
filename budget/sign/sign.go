// Package sign makes and checks detached Ed25519 signatures (RFC 8032), by people who approve plans and by the office
// that keeps the account.
//
// It owns keys, in files as package keyfile has them.
//
// It never prints a private key, never reads one that others than its owner can read, and never signs a message without
// a purpose.
package sign

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/dprelease/dprelease/internal/keyfile"
)

const textPrefix = "ed25519:"

// kind is how messages name what makes keys.
var kind = keyfile.Kind{Made: "dprelease ledger key", Else: "openssl genpkey -algorithm ed25519"}

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
func (k PublicKey) Fingerprint() string { return keyfile.Fingerprint([]byte(k.text)) }

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
	parsed, ok := keyfile.ParsePublic(text)
	if !ok {
		return PublicKey{}, errors.New(
			"not a public key: expected one word that begins with ed25519:, or PEM as `openssl pkey -pubout` writes it")
	}
	key, ok := parsed.(ed25519.PublicKey)
	if !ok {
		return PublicKey{}, errors.New("not an Ed25519 public key")
	}
	return publicKey(key), nil
}

func publicKey(b []byte) PublicKey {
	return PublicKey{textPrefix + base64.RawStdEncoding.EncodeToString(b)}
}

// ReadPublicKey reads a public key file.
func ReadPublicKey(path string) (PublicKey, error) {
	b, err := keyfile.Read(path, kind)
	if err != nil {
		return PublicKey{}, err
	}
	if keyfile.IsPrivate(b) {
		clear(b)
		return PublicKey{}, fmt.Errorf(
			"%s is a private key, which stays with its owner: give the public key, as `dprelease ledger key` writes "+
				"it to NAME.pub", path)
	}
	k, err := ParsePublicKey(string(b))
	if err != nil {
		return k, fmt.Errorf("%s: %w", path, err)
	}
	return k, nil
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
	read, err := keyfile.ReadPrivate(path, kind, func(text string) bool {
		_, err := ParsePublicKey(text)
		return err == nil
	})
	if err != nil {
		return Key{}, err
	}
	key, ok := read.(ed25519.PrivateKey)
	if !ok {
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
	if err := keyfile.Write(path, private, public); err != nil {
		return PublicKey{}, err
	}
	return publicKey(public), nil
}
