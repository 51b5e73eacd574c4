package noise

import (
	"fmt"
	"io"
	"log/slog"
)

// RowKey is the secret by which the rows of one release are counted: which rows of a unit stay, which units are
// sampled, and which of several machines counts a unit. It is derived from the release's [Key] and its plan, and given
// to whoever counts; it prints as "confidential" everywhere.
type RowKey struct{ Key }

// RowStreams derives the keystreams of one release by which rows are counted, made up or left out. They are the only
// part of the release's [Streams] that a counter of rows is given.
//
// Guarantee: nothing that adds noise, chooses cells or draws quantiles can be derived from them, so that no counter
// can fit its counts to the noise that they will get: their key is an output of HKDF-SHA256 (RFC 5869) of the release
// key, and every other stream is another output.
type RowStreams struct {
	key      *RowKey // a pointer, so that reflection does not print the key
	planHash string
}

// Rows returns the streams by which rows are counted. Erasing s erases their key.
func (s *Streams) Rows() *RowStreams { return &RowStreams{s.rows, s.planHash} }

// NewRowStreams returns the streams by which the rows of the release with this row key and plan are counted.
func NewRowStreams(key RowKey, planHash string) *RowStreams { return &RowStreams{&key, planHash} }

// Key returns the row key. Whoever has it and sees the tables knows which rows were counted.
func (s *RowStreams) Key() RowKey { return *s.key }

// Erase overwrites the key with zeros. No stream may be requested afterwards.
func (s *RowStreams) Erase() { s.key.Erase() }

// deriveKey returns a key for a purpose.
func (s *RowStreams) deriveKey(purpose string, parts ...[]byte) [32]byte {
	return deriveKey(&s.key.Key, s.planHash, purpose, parts...)
}

// Bounding returns the stream that decides which rows of a unit stay, for one
// table.
func (s *RowStreams) Bounding(table string) *Bits {
	return newBits(s.deriveKey(purposeBounding, []byte(table)))
}

// Contents returns the stream of the key under which the rows of one table are hashed, to be ordered within their
// units.
func (s *RowStreams) Contents(table string) *Bits {
	return newBits(s.deriveKey(purposeContents, []byte(table)))
}

// MadeUp returns the stream from which the rows of a rehearsal are drawn, for
// one table.
func (s *RowStreams) MadeUp(table string) *Bits {
	return newBits(s.deriveKey(purposeMadeUp, []byte(table)))
}

// Sampling returns the stream that decides which units of one table are in Poisson sample number round: each unit is,
// or is not, by its own draw, in a fixed order of the units. Which units were sampled is as confidential as the
// table.
func (s *RowStreams) Sampling(table string, round int) *Bits {
	return newBits(s.deriveKey(purposeSampling, []byte(table), encodeNumber(round)))
}

// Stamp returns a keyed hash of a hash of questions. Answers with this stamp were counted by these streams. It is
// never published.
func (s *RowStreams) Stamp(questionsHash []byte) [32]byte {
	return s.deriveKey(purposeStamp, questionsHash)
}

// Shards returns the stream of the key that divides units among machines. It is the same for all tables, so that one
// machine has all rows of a unit.
func (s *RowStreams) Shards() *Bits { return newBits(s.deriveKey(purposeShards)) }

// Units returns the key under which the ids of the units of one table are hashed, to find out whether two machines have
// a unit in common.
func (s *RowStreams) Units(table string) [32]byte { return s.deriveKey(purposeUnits, []byte(table)) }

// Parts returns a key that shows that a part of the exact answers was counted by a holder of the row key.
func (s *RowStreams) Parts() [32]byte { return s.deriveKey(purposeParts) }

// Format implements fmt.Formatter: "confidential" for every verb.
func (s *RowStreams) Format(f fmt.State, _ rune) { io.WriteString(f, confidential) }

// LogValue implements slog.LogValuer.
func (s *RowStreams) LogValue() slog.Value { return slog.StringValue(confidential) }

// MarshalJSON implements json.Marshaler.
func (s *RowStreams) MarshalJSON() ([]byte, error) { return s.key.MarshalJSON() }
