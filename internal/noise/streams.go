package noise

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
)

// Purposes distinguish streams of one release that share everything else.
const (
	purposeNoise      = "noise"
	purposeEmpty      = "noise of empty cells"
	purposeBounding   = "bounding"
	purposeContents   = "contents"
	purposeMadeUp     = "made-up rows"
	purposeSelection  = "selection"
	purposeQuantiles  = "quantiles"
	purposeSampling   = "sampling"
	purposeCommitment = "commitment"
	purposeStamp      = "stamp"
	purposeKept       = "kept answers"
	purposeRows       = "rows"
	purposeShards     = "shards"
	purposeUnits      = "units"
	purposeParts      = "parts"
	purposeCollecting = "collecting"
	purposeHeldOut    = "held-out rows"
)

// derivationSalt separates this use of a key, and this version of the samplers,
// from any other.
const derivationSalt = "dprelease streams 3"

// Streams derives the keystreams of one release: every stream is HKDF-SHA256
// (RFC 5869) of the release key over the plan hash, the purpose and what the
// stream is for. The same inputs give the same stream, so that an interrupted
// release resumes to the same noise; inputs that differ anywhere give
// independent streams.
type Streams struct {
	key      *Key // a pointer, so that reflection does not print the key
	rows     *RowKey
	planHash string
}

// NewStreams returns the streams of the release with this key and plan.
func NewStreams(key Key, planHash string) *Streams {
	rows := RowKey{deriveKey(&key, planHash, purposeRows)}
	return &Streams{key: &key, rows: &rows, planHash: planHash}
}

// Noise returns the stream for one block of one measurement: block number block
// of [BlockCells] cells, of the measurement with this canonical definition,
// added to exact integers with this hash. Another question or another input
// cannot meet the same noise.
func (s *Streams) Noise(definition, exactHash []byte, block int) *Bits {
	return newBits(s.deriveKey(purposeNoise, definition, exactHash, encodeNumber(block)))
}

// Empty returns the stream for the cells without rows in one stretch of a sparse measurement: stretch number stretch
// of [Exceeding.CellsPerStream] cells, of the measurement with this canonical definition, whose exact integers have
// this hash.
func (s *Streams) Empty(definition, exactHash []byte, stretch int) *Bits {
	return newBits(s.deriveKey(purposeEmpty, definition, exactHash, encodeNumber(stretch)))
}

// Selection returns the stream for one choice among candidates: choice number
// round of the selection with this canonical definition, by scores with this
// hash. Another question or other scores cannot meet the same choice's bits.
func (s *Streams) Selection(definition, scoresHash []byte, round int) *Bits {
	return newBits(s.deriveKey(purposeSelection, definition, scoresHash, encodeNumber(round)))
}

// Quantiles returns the stream for the quantiles of one block of cells: block number block of a fixed number of cells,
// of the measurement with this canonical definition, drawn one after the other from values with this hash. Another
// question or other values cannot meet the same bits.
func (s *Streams) Quantiles(definition, exactHash []byte, block int) *Bits {
	return newBits(s.deriveKey(purposeQuantiles, definition, exactHash, encodeNumber(block)))
}

// Commitment returns a keyed hash of a hash of exact integers. It may be stored in the ledger, which is confidential
// and by it ties a debit to one draw, and in the confidential state. It is never published.
func (s *Streams) Commitment(exactHash []byte) [32]byte {
	return s.deriveKey(purposeCommitment, exactHash)
}

// Collecting returns the private key to which the machines that count shards seal their answers. It cannot be derived
// from the row key that they have.
func (s *Streams) Collecting() [32]byte { return s.deriveKey(purposeCollecting) }

// Kept returns the key under which the exact answers of one release are stored until it is sealed. It cannot be derived
// from the row key.
func (s *Streams) Kept() [32]byte { return s.deriveKey(purposeKept) }

// HeldOut returns the key that decides which rows are held out to test a model.
func (s *Streams) HeldOut(model string) [32]byte { return s.deriveKey(purposeHeldOut, []byte(model)) }

// Erase overwrites the key, and the row key, with zeros. No stream may be requested afterwards.
func (s *Streams) Erase() {
	s.key.Erase()
	s.rows.Erase()
}

// encodeNumber returns a number as a part of what a stream is derived from.
func encodeNumber(n int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

// deriveKey returns a key for a purpose.
func (s *Streams) deriveKey(purpose string, parts ...[]byte) [32]byte {
	return deriveKey(s.key, s.planHash, purpose, parts...)
}

// deriveKey returns HKDF-SHA256 of a key. Every part of the info is preceded by its length in 8 bytes, so that no two
// lists of parts read the same.
func deriveKey(key *Key, planHash, purpose string, parts ...[]byte) [32]byte {
	var info []byte
	for _, part := range append([][]byte{[]byte(planHash), []byte(purpose)}, parts...) {
		info = binary.BigEndian.AppendUint64(info, uint64(len(part)))
		info = append(info, part...)
	}
	derived, err := hkdf.Key(sha256.New, key[:], []byte(derivationSalt), string(info), sha256.Size)
	if err != nil {
		panic("noise: HKDF refused a 32-byte output: " + err.Error()) // its only error is a too long output
	}
	return [32]byte(derived)
}

// Format implements fmt.Formatter: "confidential" for every verb.
func (s *Streams) Format(f fmt.State, _ rune) { io.WriteString(f, confidential) }

// LogValue implements slog.LogValuer.
func (s *Streams) LogValue() slog.Value { return slog.StringValue(confidential) }

// MarshalJSON implements json.Marshaler.
func (s *Streams) MarshalJSON() ([]byte, error) { return s.key.MarshalJSON() }
