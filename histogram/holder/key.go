package holder

// This file holds Key and PublicKey, by which a holder signs and agrees on masks.

import (
	"bytes"
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/internal/keyfile"
)

const (
	publicPrefix  = "dprelease-holder-1 "
	privatePrefix = "dprelease-holder-private-1 "
	halfBytes     = 32 // the length of either public key, and of the secret
)

// kind is how messages name what makes keys.
var kind = keyfile.Kind{Made: "dprelease holder key"}

var errNoKey = errors.New("there is no key: it was neither made nor read")

// PublicKey checks a holder's signatures, and others agree with it on masks. It is an Ed25519 key and an X25519 key.
// Two are equal (==) if they are the same keys; the zero PublicKey is no key.
type PublicKey struct{ signing, agreeing [halfBytes]byte }

// IsZero reports whether there is no key.
func (k PublicKey) IsZero() bool { return k == PublicKey{} }

// String returns the key on one line, "dprelease-holder-1 " and 86 characters of base64: the Ed25519 key and then the
// X25519 key, 32 bytes each.
func (k PublicKey) String() string {
	if k.IsZero() {
		return ""
	}
	return publicPrefix + base64.RawStdEncoding.EncodeToString(append(k.signing[:], k.agreeing[:]...))
}

// MarshalText returns String.
func (k PublicKey) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads what String writes; an empty text is no key.
func (k *PublicKey) UnmarshalText(b []byte) (err error) {
	*k = PublicKey{}
	if len(b) > 0 {
		*k, err = ParsePublic(string(b))
	}
	return err
}

// Fingerprint returns the first 16 bytes of the SHA-256 of String, in groups of four hexadecimal digits. Two people
// read it to each other to confirm that they mean the same key.
func (k PublicKey) Fingerprint() string { return keyfile.Fingerprint([]byte(k.String())) }

// ParsePublic reads a public key as [PublicKey.String] writes it, with white space around it. It returns an error for
// other texts, for an X25519 key of low order, with which everybody would agree on the same secret, and for one that is
// not in its shortest form, so that one key has one text.
func ParsePublic(text string) (PublicKey, error) {
	word, ok := strings.CutPrefix(strings.TrimSpace(text), publicPrefix)
	b, err := base64.RawStdEncoding.Strict().DecodeString(word)
	if !ok || err != nil || len(b) != 2*halfBytes || strings.ContainsAny(word, "\r\n") {
		return PublicKey{}, errors.New("a holder's public key is one line: " + publicPrefix +
			"and 86 characters of base64")
	}
	k := PublicKey{[halfBytes]byte(b[:halfBytes]), [halfBytes]byte(b[halfBytes:])}
	if !isReduced(k.agreeing) {
		return PublicKey{}, errors.New("the holder's X25519 key is not a number below 2^255 − 19: " +
			"use the key as it was made")
	}
	// Every private key is a multiple of eight, so that agreeing fails with all of them or with none.
	probe, err := ecdh.X25519().NewPrivateKey(bytes.Repeat([]byte{1}, halfBytes))
	if err != nil {
		return PublicKey{}, err
	}
	if _, err := k.agree(probe); err != nil {
		return PublicKey{}, err
	}
	return k, nil
}

// isReduced reports whether a little-endian number is below 2^255 − 19.
func isReduced(b [halfBytes]byte) bool {
	limit := bytes.Repeat([]byte{0xff}, halfBytes)
	limit[0], limit[halfBytes-1] = 0xed, 0x7f
	for i := halfBytes - 1; i >= 0; i-- {
		if b[i] != limit[i] {
			return b[i] < limit[i]
		}
	}
	return false
}

// agree returns the X25519 secret with a private key.
func (k PublicKey) agree(private *ecdh.PrivateKey) ([]byte, error) {
	public, err := ecdh.X25519().NewPublicKey(k.agreeing[:])
	if err != nil {
		return nil, err
	}
	secret, err := private.ECDH(public)
	if err != nil {
		return nil, errors.New("the holder's X25519 key is of low order, so masks made with it would hide nothing: " +
			"ask for a new key")
	}
	return secret, nil
}

// verifies reports whether a signature for a purpose is by this key.
func (k PublicKey) verifies(purpose string, message, signature []byte) bool {
	return !k.IsZero() && ed25519.Verify(k.signing[:], messageFor(purpose, message), signature)
}

// messageFor returns the bytes that are signed. They begin with the purpose, so a signature for one purpose is invalid
// for any other, and for whatever else signs in this program.
func messageFor(purpose string, message []byte) []byte {
	return append([]byte("dprelease holder "+purpose+" 1\x00"), message...)
}

// Key signs shares and rolls and makes masks. It shows "confidential" however it is printed; the zero Key is no key.
type Key struct {
	answer.Redacted
	private func() *privateKeys // a function, into which no printing looks
}

// privateKeys are a secret and the two keys that are derived from it.
type privateKeys struct {
	secret   [halfBytes]byte
	signing  ed25519.PrivateKey
	agreeing *ecdh.PrivateKey
}

// NewKey returns a new key, of random bytes from the operating system.
func NewKey() (Key, error) {
	var secret [halfBytes]byte
	defer clear(secret[:])
	if _, err := rand.Read(secret[:]); err != nil {
		return Key{}, err
	}
	return KeyOf(secret)
}

// KeyOf returns the key with a secret of 32 uniform bytes. HKDF-SHA256 derives the Ed25519 key and the X25519 key from
// it, so that neither shows anything of the other. It returns an error for a secret of zeros, which nobody drew.
func KeyOf(secret [halfBytes]byte) (Key, error) {
	if secret == [halfBytes]byte{} {
		return Key{}, errors.New("a secret of zeros is no key")
	}
	seed, err := deriveHalf(secret, "sign")
	if err != nil {
		return Key{}, err
	}
	defer clear(seed)
	scalar, err := deriveHalf(secret, "agree")
	if err != nil {
		return Key{}, err
	}
	defer clear(scalar)
	agreeing, err := ecdh.X25519().NewPrivateKey(scalar)
	if err != nil {
		return Key{}, err
	}
	keys := &privateKeys{secret, ed25519.NewKeyFromSeed(seed), agreeing}
	return Key{private: func() *privateKeys { return keys }}, nil
}

func deriveHalf(secret [halfBytes]byte, use string) ([]byte, error) {
	return hkdf.Key(sha256.New, secret[:], nil, "dprelease holder key 1 "+use, halfBytes)
}

// Public returns the public key, and the zero PublicKey if there is no key.
func (k Key) Public() PublicKey {
	if k.private == nil {
		return PublicKey{}
	}
	keys := k.private()
	return PublicKey{[halfBytes]byte(keys.signing.Public().(ed25519.PublicKey)),
		[halfBytes]byte(keys.agreeing.PublicKey().Bytes())}
}

// sign signs a message for a purpose. Ed25519 uses no randomness: the same message has the same signature.
func (k Key) sign(purpose string, message []byte) ([]byte, error) {
	if k.private == nil {
		return nil, errNoKey
	}
	return ed25519.Sign(k.private().signing, messageFor(purpose, message)), nil
}

// Write writes the key to path, for its owner alone, and its public key to path.pub. It replaces no file. Errors: those
// of the system, and that a file is there.
func (k Key) Write(path string) error {
	if k.private == nil {
		return errNoKey
	}
	secret := k.private().secret
	defer clear(secret[:])
	text := append(base64.RawStdEncoding.AppendEncode([]byte(privatePrefix), secret[:]), '\n')
	defer clear(text)
	return keyfile.WriteTexts(path, text, []byte(k.Public().String()+"\n"))
}

// ReadKey reads a key that [Key.Write] wrote. It refuses a file that others than its owner can read, and explains when
// the file is a public key.
func ReadKey(path string) (Key, error) {
	text, err := keyfile.ReadPrivateText(path, kind, func(text string) bool {
		return strings.HasPrefix(strings.TrimSpace(text), publicPrefix)
	})
	if err != nil {
		return Key{}, err
	}
	defer clear(text)
	word, ok := bytes.CutPrefix(bytes.TrimSpace(text), []byte(privatePrefix))
	secret := make([]byte, base64.RawStdEncoding.DecodedLen(len(word)))
	defer clear(secret)
	n, err := base64.RawStdEncoding.Strict().Decode(secret, word)
	if !ok || err != nil || n != halfBytes || len(secret) != halfBytes {
		return Key{}, fmt.Errorf("%s is not a holder's private key, as `%s` writes it", path, kind.Made)
	}
	k, err := KeyOf([halfBytes]byte(secret))
	if err != nil {
		return Key{}, fmt.Errorf("%s: %w", path, err)
	}
	return k, nil
}
