// Package seal hands confidential bytes from one machine to another: what is sealed to a public key, the holder of its
// private key opens (HPKE, RFC 9180, with X25519, HKDF-SHA256 and AES-256-GCM).
//
// It owns these keys, in files as package keyfile has them, and the form of sealed bytes. It knows nothing of what is
// sealed. A seal does not show who made it: whoever opens must know from elsewhere whose bytes they are, or bind them
// to a secret that only the right ones know.
package seal

import (
	"bufio"
	"crypto/ecdh"
	"crypto/hpke"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/dprelease/dprelease/internal/keyfile"
)

const textPrefix = "x25519:"

// kind is how messages name what makes keys.
var kind = keyfile.Kind{Made: "dprelease machine-key", Else: "openssl genpkey -algorithm x25519"}

// PublicKey seals. Two are equal (==) if they are the same key; the zero PublicKey is no key.
type PublicKey struct{ text string }

// String returns the key in one word, "x25519:" and 43 characters of base64.
func (k PublicKey) String() string { return k.text }

// Fingerprint returns what two people read to each other to confirm that they mean the same key.
func (k PublicKey) Fingerprint() string { return keyfile.Fingerprint([]byte(k.text)) }

// MarshalText returns String.
func (k PublicKey) MarshalText() ([]byte, error) { return []byte(k.text), nil }

// UnmarshalText reads what String writes.
func (k *PublicKey) UnmarshalText(b []byte) (err error) {
	*k, err = ParsePublicKey(string(b))
	return err
}

// Key opens.
type Key struct {
	private func() *ecdh.PrivateKey // a function, into which no printing looks
}

func keyOf(k *ecdh.PrivateKey) Key { return Key{func() *ecdh.PrivateKey { return k }} }

// Public returns the key to which is sealed what k opens.
func (k Key) Public() PublicKey { return publicKey(k.private().PublicKey()) }

// KeyOf returns the key with these secret bytes.
func KeyOf(secret [32]byte) (Key, error) {
	private, err := ecdh.X25519().NewPrivateKey(secret[:])
	return keyOf(private), err
}

func publicKey(k *ecdh.PublicKey) PublicKey {
	return PublicKey{textPrefix + base64.RawStdEncoding.EncodeToString(k.Bytes())}
}

// ParsePublicKey reads a public key in one word (see [PublicKey.String]) or in PEM.
func ParsePublicKey(text string) (PublicKey, error) {
	text = strings.TrimSpace(text)
	if word, ok := strings.CutPrefix(text, textPrefix); ok {
		b, err := base64.RawStdEncoding.Strict().DecodeString(word)
		if err == nil {
			if key, err := ecdh.X25519().NewPublicKey(b); err == nil {
				return publicKey(key), nil
			}
		}
		return PublicKey{}, errors.New("the public key of a machine is x25519: and 43 characters of base64")
	}
	parsed, _ := keyfile.ParsePublic(text)
	key, ok := parsed.(*ecdh.PublicKey)
	if !ok || key.Curve() != ecdh.X25519() {
		return PublicKey{}, errors.New("not the public key of a machine: expected one word that begins with x25519:, " +
			"or an X25519 key in PEM, as `dprelease machine-key NAME` writes it to NAME.pub")
	}
	return publicKey(key), nil
}

// ReadPublicKey reads a public key file.
func ReadPublicKey(path string) (PublicKey, error) {
	b, err := keyfile.Read(path, kind)
	if err != nil {
		return PublicKey{}, err
	}
	if keyfile.IsPrivate(b) {
		clear(b)
		return PublicKey{}, fmt.Errorf("%s is a private key, which stays on its machine: give the public key, as "+
			"`%s` writes it to NAME.pub",
			path, kind.Made)
	}
	k, err := ParsePublicKey(string(b))
	if err != nil {
		return k, fmt.Errorf("%s: %w", path, err)
	}
	return k, nil
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
	key, ok := read.(*ecdh.PrivateKey)
	if !ok || key.Curve() != ecdh.X25519() {
		return Key{}, fmt.Errorf("%s is not an X25519 private key, as `%s` writes it", path, kind.Made)
	}
	return keyOf(key), nil
}

// Generate generates a key and writes it to path, for its owner alone, and its public key to path.pub. It replaces no
// file.
func Generate(path string) (PublicKey, error) {
	private, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return PublicKey{}, err
	}
	if err := keyfile.Write(path, private, private.PublicKey()); err != nil {
		return PublicKey{}, err
	}
	return publicKey(private.PublicKey()), nil
}

// pieceBytes is how much is sealed at a time.
const pieceBytes = 1 << 18

// tagBytes is how much longer a sealed piece is than its text.
const tagBytes = 16

// Each piece begins with one of these bytes, so that a stream that was cut short is found.
const (
	notLast = 0
	last    = 1
)

// Writer seals what is written to it. Close writes the end.
type Writer struct {
	to     io.Writer
	sender *hpke.Sender
	piece  []byte // the first byte, and what is not sealed yet
	count  int64
}

// NewWriter returns a writer that seals to the holder of a key, and only for somebody who knows what the bytes are
// bound to. Errors are those of w.
func NewWriter(w io.Writer, to PublicKey, bound []byte) (*Writer, error) {
	raw, err := base64.RawStdEncoding.DecodeString(strings.TrimPrefix(to.text, textPrefix))
	if err != nil {
		return nil, err
	}
	point, err := ecdh.X25519().NewPublicKey(raw)
	if err != nil {
		return nil, err
	}
	key, err := hpke.NewDHKEMPublicKey(point)
	if err != nil {
		return nil, err
	}
	encapsulated, sender, err := hpke.NewSender(key, hpke.HKDFSHA256(), hpke.AES256GCM(), bound)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(encapsulated); err != nil {
		return nil, err
	}
	return &Writer{to: w, sender: sender, piece: []byte{notLast}}, nil
}

// Write seals bytes.
func (w *Writer) Write(b []byte) (int, error) {
	n := len(b)
	w.count += int64(n)
	for len(b) > 0 {
		if len(w.piece) == 1+pieceBytes {
			if err := w.flush(); err != nil {
				return 0, err
			}
		}
		some := b[:min(len(b), 1+pieceBytes-len(w.piece))]
		w.piece, b = append(w.piece, some...), b[len(some):]
	}
	return n, nil
}

// Written returns how many bytes were written.
func (w *Writer) Written() int64 { return w.count }

// flush seals the piece, and begins a new one.
func (w *Writer) flush() error {
	sealed, err := w.sender.Seal(nil, w.piece)
	if err != nil {
		return err
	}
	clear(w.piece)
	w.piece = append(w.piece[:0], notLast)
	var length [4]byte
	binary.BigEndian.PutUint32(length[:], uint32(len(sealed)))
	if _, err := w.to.Write(length[:]); err != nil {
		return err
	}
	_, err = w.to.Write(sealed)
	return err
}

// Close seals the last piece. It does not close what is written to.
func (w *Writer) Close() error {
	w.piece[0] = last
	return w.flush()
}

// ErrOpen reports that bytes were sealed to another key, bound to something else, or changed since.
var ErrOpen = errors.New("cannot be opened: it was sealed for another key or another purpose, or was changed since")

// reader opens what a [Writer] has sealed.
type reader struct {
	from      *bufio.Reader
	recipient *hpke.Recipient
	text      []byte // opened and not read yet
	ended     bool
}

// NewReader returns a reader of what was sealed to a key and bound to something. Errors, also those of reading:
// ErrOpen, and those of r. What is read before an error is as it was sealed; only [io.EOF] shows that it is whole.
func NewReader(r io.Reader, key Key, bound []byte) (io.Reader, error) {
	from := bufio.NewReader(r)
	encapsulated := make([]byte, 32)
	if _, err := io.ReadFull(from, encapsulated); err != nil {
		return nil, cutShort(err)
	}
	private, err := hpke.NewDHKEMPrivateKey(key.private())
	if err != nil {
		return nil, err
	}
	recipient, err := hpke.NewRecipient(encapsulated, private, hpke.HKDFSHA256(), hpke.AES256GCM(), bound)
	if err != nil {
		return nil, ErrOpen
	}
	return &reader{from: from, recipient: recipient}, nil
}

// cutShort returns ErrOpen for bytes that end too early.
func cutShort(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrOpen
	}
	return err
}

// Read implements io.Reader.
func (r *reader) Read(b []byte) (int, error) {
	for len(r.text) == 0 {
		if r.ended {
			return 0, io.EOF
		}
		if err := r.open(); err != nil {
			return 0, err
		}
	}
	n := copy(b, r.text)
	r.text = r.text[n:]
	return n, nil
}

// open opens the next piece.
func (r *reader) open() error {
	var length [4]byte
	if _, err := io.ReadFull(r.from, length[:]); err != nil {
		return cutShort(err)
	}
	n := binary.BigEndian.Uint32(length[:])
	if n > 1+pieceBytes+tagBytes {
		return ErrOpen
	}
	sealed := make([]byte, n)
	if _, err := io.ReadFull(r.from, sealed); err != nil {
		return cutShort(err)
	}
	text, err := r.recipient.Open(nil, sealed)
	if err != nil || len(text) == 0 {
		return ErrOpen
	}
	if r.ended = text[0] == last; r.ended {
		if _, err := r.from.ReadByte(); !errors.Is(err, io.EOF) {
			return ErrOpen // something follows
		}
	}
	r.text = text[1:]
	return nil
}
