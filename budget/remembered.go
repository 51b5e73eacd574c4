package budget

import (
	"crypto/sha256"
	"fmt"
	"io"
	"sync"
)

// This file remembers what has been worked out. A plan asks for the ε of the same mechanisms at the same δ when it
// looks for its noise, states its guarantee, and explains its loss; so do plans that differ in words alone. A pair that
// takes long to work out is kept too: nobody writes to its masses.

// identity tells lists of mechanisms apart, in their order; the zero identity is of none that [Compose] made.
type identity [sha256.Size]byte

// identityOf is that of groups in the order of their first places.
func identityOf(groups []repeated) identity {
	h := sha256.New()
	for _, g := range groups {
		text := g.mechanism.text()
		fmt.Fprintf(h, "%d %d ", g.count, len(text))
		io.WriteString(h, text)
	}
	return identity(h.Sum(nil))
}

// question is an ε that was asked for, of these mechanisms at this δ; or a rate of true positives, at this rate of
// false ones.
type question struct {
	of   identity
	rate bool
	at   float64
}

const (
	// mostRemembered is how many answers are kept, some 200 kB of them.
	mostRemembered = 1 << 12
	// mostPoints bounds the pairs that are kept: 16 MB of masses.
	mostPoints = 1 << 21
)

var (
	// remembered are the answers to questions.
	remembered = memory[question, float64]{most: mostRemembered, size: func(float64) int { return 1 }}
	// rememberedPairs are the pairs of mechanisms whose worst shifts are several, by their text.
	rememberedPairs = memory[string, atoms]{most: mostPoints, size: func(a atoms) int { return len(a.mass) }}
)

// memory is what was worked out before. Where all of it together grows larger than most, all is forgotten.
type memory[K comparable, V any] struct {
	most int
	size func(V) int

	lock  sync.Mutex
	known map[K]V
	held  int // the sum of the sizes
}

// of is what belongs to a key, which work works out where it is new. Two that ask at once may both work it out, to the
// same bits.
func (m *memory[K, V]) of(key K, work func() V) V {
	m.lock.Lock()
	known, ok := m.known[key]
	m.lock.Unlock()
	if ok {
		return known
	}
	known = work()
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.held += m.size(known); m.known == nil || m.held > m.most {
		m.known, m.held = map[K]V{}, m.size(known)
	}
	m.known[key] = known
	return known
}
