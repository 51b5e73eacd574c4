package histogram

// This file holds Exact: the exact counts of a plan, which nothing can read.

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"runtime"
	"sync"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/noise"
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
	answers    []answer   // one per measurement, in the plan's order
	pairs      [][]answer // of each adaptive method, in the order of its pairs
	hash       []byte     // of all answers with their definitions
	commitment string     // of hash, under the key that the rows were bounded with
	madeUp     bool

	mu     sync.Mutex
	opened bool
}

// answer is the exact answer to one measurement.
type answer struct {
	measurement plan.Measurement
	definition  []byte // canonical
	counts      []int64
	cells       []uint64 // of a sparse measurement: the places of the counts, ascending; all others are 0
	groups      *grouped // of one whose groups are not listed: what its cells are
	hash        []byte   // SHA-256 of the counts, and of their places
}

// tallied is the counts of a question: of all its cells or, where cells is not nil, of those, ascending, and 0 of all
// others.
type tallied struct {
	cells  []uint64
	counts []int64
	groups *grouped // what the cells are, where they are not listed
}

// newExact takes the counts of all questions of a plan, in their order. The hash,
// and with it what a release is debited for, is of all of them: of a pair that no
// round will choose as well.
func newExact(p *plan.Plan, all []plan.Measurement, counts []tallied, s *noise.Streams, madeUp bool) *Exact {
	e := &exact{plan: p, madeUp: madeUp}
	answers := make([]answer, len(all))
	hash := sha256.New()
	for i, m := range all {
		a := answer{measurement: m, definition: m.Canonical(), counts: counts[i].counts, cells: counts[i].cells, groups: counts[i].groups, hash: counts[i].hash()}
		answers[i] = a
		definition := sha256.Sum256(a.definition)
		hash.Write(definition[:])
		hash.Write(a.hash)
	}
	e.hash = hash.Sum(nil)
	e.answers, answers = answers[:len(p.Measurements)], answers[len(p.Measurements):]
	for _, s := range p.Synthetic {
		pairs := len(s.Pairs())
		e.pairs, answers = append(e.pairs, answers[:pairs]), answers[pairs:]
	}
	out := &Exact{inner: e}
	e.commitment = out.Commitment(s)
	return out
}

// hash is the SHA-256 of the counts. That of a sparse measurement is of its places and of its counts.
func (t tallied) hash() []byte {
	if t.groups != nil {
		return t.groups.hash(t)
	}
	if t.cells == nil {
		return hashOf(t.counts)
	}
	h := sha256.New()
	h.Write(hashOf(t.cells))
	h.Write(hashOf(t.counts))
	return h.Sum(nil)
}

// hashBlock is how many integers are hashed by themselves, side by side with others.
const hashBlock = 1 << 18

// hashOf is the SHA-256 of how many integers there are, in 8 bytes, and of the SHA-256 of every block of hashBlock of them, which
// are written one after the other as varints (in most large tables a byte each), of which none begins another: other
// integers are other bytes.
func hashOf[T int64 | uint64](counts []T) []byte {
	blocks := make([][sha256.Size]byte, (len(counts)+hashBlock-1)/hashBlock)
	err := parallel(context.Background(), runtime.GOMAXPROCS(0), len(blocks), func(i int) error {
		blocks[i] = hashOfBlock(counts[i*hashBlock : min((i+1)*hashBlock, len(counts))])
		return nil
	})
	if err != nil {
		panic("histogram: hashing fails on no integers: " + err.Error())
	}
	h := sha256.New()
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(counts))))
	for _, b := range blocks {
		h.Write(b[:])
	}
	return h.Sum(nil)
}

func hashOfBlock[T int64 | uint64](counts []T) (out [sha256.Size]byte) {
	h := sha256.New()
	buffer := make([]byte, 0, 8*4096)
	for _, c := range counts {
		if buffer = binary.AppendVarint(buffer, int64(c)); len(buffer) > cap(buffer)-binary.MaxVarintLen64 {
			h.Write(buffer)
			buffer = buffer[:0]
		}
	}
	h.Write(buffer)
	h.Sum(out[:0])
	return out
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
