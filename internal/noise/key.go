package noise

import (
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
)

// Key is the secret of one release, from which every stream is derived. Whoever
// has it and the published tables has the exact counts: it is kept on disk only
// until the measurements are durable, and prints as "confidential" everywhere.
type Key [32]byte

const confidential = "confidential"

// NewKey returns a fresh key from the operating system.
func NewKey() (Key, error) {
	var k Key
	if _, err := rand.Read(k[:]); err != nil {
		return Key{}, fmt.Errorf("drawing a release key: %w", err)
	}
	return k, nil
}

// Erase overwrites the key with zeros. Copies made before are not reached.
func (k *Key) Erase() { clear(k[:]) }

// String, GoString, Format, LogValue, MarshalText and MarshalJSON say
// "confidential" and nothing else.
func (k Key) String() string { return confidential }

// GoString implements fmt.GoStringer.
func (k Key) GoString() string { return confidential }

// Format implements fmt.Formatter, for every verb.
func (k Key) Format(f fmt.State, _ rune) { io.WriteString(f, confidential) }

// LogValue implements slog.LogValuer.
func (k Key) LogValue() slog.Value { return slog.StringValue(confidential) }

// MarshalText implements encoding.TextMarshaler.
func (k Key) MarshalText() ([]byte, error) { return []byte(confidential), nil }

// MarshalJSON implements json.Marshaler.
func (k Key) MarshalJSON() ([]byte, error) { return []byte(`"` + confidential + `"`), nil }
