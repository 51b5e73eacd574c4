package noise

import (
	"fmt"
	"io"
	"log/slog"
)

// RowStreams derives the keystreams of one release by which rows are counted, made up or left out. They are the only
// part of the release's [Streams] that a counter of rows is given.
//
// Guarantee: nothing that adds noise, chooses cells or draws quantiles can be derived from them, so that no counter
// can fit its counts to the noise that they will get.
type RowStreams struct{ all *Streams }

// Rows returns the streams by which rows are counted. Erasing s erases their key.
func (s *Streams) Rows() *RowStreams { return &RowStreams{s} }

// Bounding returns the stream that decides which rows of a unit stay, for one
// table.
func (s *RowStreams) Bounding(table string) *Bits {
	return newBits(s.all.deriveKey(purposeBounding, []byte(table)))
}

// Contents returns the stream of the key under which the rows of one table are hashed, to be ordered within their
// units.
func (s *RowStreams) Contents(table string) *Bits {
	return newBits(s.all.deriveKey(purposeContents, []byte(table)))
}

// MadeUp returns the stream from which the rows of a rehearsal are drawn, for
// one table.
func (s *RowStreams) MadeUp(table string) *Bits {
	return newBits(s.all.deriveKey(purposeMadeUp, []byte(table)))
}

// Sampling returns the stream that decides which units of one table are in Poisson sample number round: each unit is,
// or is not, by its own draw, in a fixed order of the units. Which units were sampled is as confidential as the
// table.
func (s *RowStreams) Sampling(table string, round int) *Bits {
	return newBits(s.all.deriveKey(purposeSampling, []byte(table), encodeNumber(round)))
}

// Stamp returns a keyed hash of a hash of questions. Answers with this stamp were counted by these streams. It is
// never published.
func (s *RowStreams) Stamp(questionsHash []byte) [32]byte {
	return s.all.deriveKey(purposeStamp, questionsHash)
}

// Kept returns the key under which the exact answers of one release are stored until it is sealed.
func (s *RowStreams) Kept() [32]byte { return s.all.deriveKey(purposeKept) }

// Format implements fmt.Formatter: "confidential" for every verb.
func (s *RowStreams) Format(f fmt.State, _ rune) { io.WriteString(f, confidential) }

// LogValue implements slog.LogValuer.
func (s *RowStreams) LogValue() slog.Value { return slog.StringValue(confidential) }

// MarshalJSON implements json.Marshaler.
func (s *RowStreams) MarshalJSON() ([]byte, error) { return s.all.MarshalJSON() }
