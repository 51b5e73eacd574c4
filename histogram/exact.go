package histogram

// This file holds Exact: the exact counts of a plan, which nothing can read.

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"runtime"
	"slices"
	"sync"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/tabulate"
	"github.com/dprelease/dprelease/plan"
)

// Exact holds the exact answers to all that a plan may ask. It has no getter and
// shows "confidential" however it is printed, logged or marshalled. The only way
// on is Open.
type Exact struct {
	veil
	inner *exact // behind a pointer, where reflection prints an address
}

// exact is what Exact hides.
type exact struct {
	plan       *plan.Plan
	answers    []answer    // one per measurement, in the plan's order
	candidates [][][]int64 // of each adaptive method, in the order of its candidates
	hash       []byte      // of all answers with their definitions
	commitment string      // of hash, under the key that the rows were bounded with
	madeUp     bool

	mu     sync.Mutex
	opened bool
}

// answer is the exact answer to one measurement.
type answer struct {
	measurement plan.Measurement
	definition  []byte // canonical
	tallied
	hash []byte // SHA-256 of the counts, and of their places
}

// tallied is the counts of a question: of all its cells or, where cells is not nil, of those, ascending, and 0 of all
// others. Of very many cells they may be narrow, in the place of counts.
type tallied struct {
	cells  []uint64
	counts []int64
	narrow *tabulate.Narrow
	groups *grouped // of one whose groups are not listed: what its cells are
}

// len is how many there are.
func (t tallied) len() int {
	if t.narrow != nil {
		return len(t.narrow.Low)
	}
	return len(t.counts)
}

// read writes the counts from place first on.
func (t tallied) read(to []int64, first int) {
	if t.narrow != nil {
		t.narrow.Read(to, first)
		return
	}
	copy(to, t.counts[first:])
}

// wide is the same, none of it narrow.
func (t tallied) wide() tallied {
	if t.narrow == nil {
		return t
	}
	counts := make([]int64, t.len())
	t.read(counts, 0)
	return tallied{counts: counts}
}

// newExact takes the counts of all questions of a plan, in their order. The hash,
// and with it what a release is debited for, is of all of them: of a candidate that no
// round will choose as well.
func newExact(p *plan.Plan, all []plan.Measurement, counts []tallied, s *noise.Streams, madeUp bool) *Exact {
	e := &exact{plan: p, madeUp: madeUp}
	hash := sha256.New()
	for i, m := range all {
		a := answer{measurement: m, definition: m.Canonical(), tallied: counts[i], hash: counts[i].hash()}
		definition := sha256.Sum256(a.definition)
		hash.Write(definition[:])
		hash.Write(a.hash)
		if i < len(p.Measurements) {
			e.answers = append(e.answers, a)
		}
	}
	e.hash = hash.Sum(nil)
	counts = counts[len(p.Measurements):]
	for _, s := range p.Synthetic {
		candidates := make([][]int64, len(s.Candidates()))
		for i := range candidates { // models are held against candidates as they are
			candidates[i] = counts[i].wide().counts
		}
		e.candidates, counts = append(e.candidates, candidates), counts[len(candidates):]
	}
	out := &Exact{inner: e}
	e.commitment = out.Commitment(s)
	return out
}

// hash is the SHA-256 of the counts. That of a sparse measurement is of its places and of its counts.
func (t tallied) hash() []byte {
	switch {
	case t.groups != nil:
		return t.groups.hash(t)
	case t.narrow != nil:
		return hashOfNarrow(t.narrow)
	case t.cells == nil:
		return hashOf(t.counts)
	}
	h := sha256.New()
	h.Write(hashOf(t.cells))
	h.Write(hashOf(t.counts))
	return h.Sum(nil)
}

// Of hashBlock integers each is hashed by itself, side by side with others, and hashPiece of them are written at a time.
const (
	hashBlock = 1 << 18
	hashPiece = 1 << 12
)

// hashOf is the SHA-256 of how many integers there are, in 8 bytes, and of the SHA-256 of every block of hashBlock of them, which
// are written one after the other as varints (in most large tables a byte each), of which none begins another: other
// integers are other bytes.
func hashOf[T int64 | uint64](counts []T) []byte {
	return hashOfVarints(len(counts), func(to []byte, first, end int) []byte {
		for _, c := range counts[first:end] {
			to = binary.AppendVarint(to, int64(c))
		}
		return to
	})
}

// hashOfNarrow is hashOf the same counts in 64 bits.
func hashOfNarrow(n *tabulate.Narrow) []byte {
	return hashOfVarints(len(n.Low), func(to []byte, first, end int) []byte {
		over, _ := slices.BinarySearch(n.Over, first)
		for ; first < end; first += 8 {
			low := n.Low[first:min(first+8, end)]
			if len(low) == 8 && (over == len(n.Over) || n.Over[over] >= first+8) {
				// The varint of what is below 64 is a byte of twice that.
				if eight := binary.LittleEndian.Uint64(low); eight&0xc0c0c0c0c0c0c0c0 == 0 {
					to = binary.LittleEndian.AppendUint64(to, eight<<1)
					continue
				}
			}
			for i, c := range low {
				count := int64(c)
				for ; over < len(n.Over) && n.Over[over] == first+i; over++ {
					count += 1 << 8
				}
				to = binary.AppendVarint(to, count)
			}
		}
		return to
	})
}

// hashOfVarints is hashOf n integers, of which write appends those of first..end as varints.
func hashOfVarints(n int, write func(to []byte, first, end int) []byte) []byte {
	blocks := make([][sha256.Size]byte, (n+hashBlock-1)/hashBlock)
	err := parallel(context.Background(), runtime.GOMAXPROCS(0), len(blocks), func(i int) error {
		h, piece := sha256.New(), make([]byte, 0, min(n, hashPiece)*binary.MaxVarintLen64)
		for first, end := i*hashBlock, min((i+1)*hashBlock, n); first < end; first += hashPiece {
			piece = write(piece[:0], first, min(first+hashPiece, end))
			h.Write(piece)
		}
		h.Sum(blocks[i][:0])
		return nil
	})
	if err != nil {
		panic("histogram: hashing fails on no integers: " + err.Error())
	}
	h := sha256.New()
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(n)))
	for _, b := range blocks {
		h.Write(b[:])
	}
	return h.Sum(nil)
}

// Commitment binds the key of s to the exact answers, in 64 hexadecimal digits.
// The release is debited for it, so that one debit pays for one draw. It belongs
// into the ledger and the confidential state only.
func (e *Exact) Commitment(s *noise.Streams) string {
	c := s.Commitment(e.inner.hash)
	return hex.EncodeToString(c[:])
}

// Reasons for which Open refuses.
var (
	errNoReceipt  = errors.New("the ledger has given no receipt for this release; debit it first")
	errOtherPlan  = errors.New("the receipt of the ledger is for another plan; debit the plan that is being measured")
	errRehearsal  = errors.New("the receipt is that of a rehearsal, which pays for made-up rows only; debit an account")
	errMadeUp     = errors.New("the rows are made up, and the receipt is for confidential ones; a rehearsal needs the receipt of a rehearsal")
	errOtherKey   = errors.New("the noise streams are not those that the rows were bounded with; measure with one key")
	errOtherDraw  = errors.New("the receipt is for a draw with another key or of other counts; one debit pays for one draw")
	errOtherCost  = errors.New("the receipt is not for what the plan costs; debit the plan's charge")
	errOpenedOnce = errors.New("the exact counts were opened before; one debit pays for one opening")
)

// Open lets the answers be measured, for the receipt of a debit of the same plan
// at its full charge, made for these very answers and the key they were counted
// with. Made-up rows open with the receipt of a rehearsal and with no other. It
// succeeds once.
func (e *Exact) Open(r ledger.Receipt, s *noise.Streams) (*Opened, error) {
	x := e.inner
	switch {
	case !r.Valid():
		return nil, errNoReceipt
	case r.PlanHash() != x.plan.Hash():
		return nil, errOtherPlan
	case !x.madeUp && r.Status() == ledger.Rehearsal:
		return nil, errRehearsal
	case x.madeUp && r.Status() != ledger.Rehearsal:
		return nil, errMadeUp
	case e.Commitment(s) != x.commitment:
		return nil, errOtherKey
	case !r.Commits(x.commitment):
		return nil, errOtherDraw
	case !r.Record().Cost.Equal(x.plan.Cost):
		return nil, errOtherCost
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.opened {
		return nil, errOpenedOnce
	}
	x.opened = true
	return &Opened{inner: &opened{exact: x, streams: s, given: make([]bool, len(x.answers))}}, nil
}
