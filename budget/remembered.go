package budget

import (
	"crypto/sha256"
	"fmt"
	"io"
	"sync"
)

// This file remembers results. A plan needs the ε of the same mechanisms at the same δ when it searches for its noise,
// states its guarantee, and explains its loss; so do plans that differ in words alone. Pairs that take long to compute
// are also kept: nothing modifies their masses.

// identity identifies a list of mechanisms, in their order. The zero identity belongs to a Loss that [Compose] did not
// make.
type identity [sha256.Size]byte

// identityOf returns the identity of groups in the order of their first occurrence.
func identityOf(groups []repeated) identity {
	h := sha256.New()
	for _, g := range groups {
		text := g.mechanism.identityText()
		fmt.Fprintf(h, "%d %d ", g.count, len(text))
		io.WriteString(h, text)
	}
	return identity(h.Sum(nil))
}

// question is a request for the ε of mechanisms at a δ, or for their true positive rate at a false positive rate.
type question struct {
	mechanisms identity
	isRate     bool
	at         float64
}

const (
	// maxRemembered is the number of answers kept, some 200 kB of them.
	maxRemembered = 1 << 12
	// maxRememberedPoints bounds the pairs that are kept: 16 MB of masses.
	maxRememberedPoints = 1 << 21
)

var (
	// rememberedAnswers holds the answers to questions.
	rememberedAnswers = memory[question, float64]{capacity: maxRemembered, size: func(float64) int { return 1 }}
	// rememberedPairs holds the pairs of mechanisms with several worst shifts, by identityText.
	rememberedPairs = memory[string, atoms]{capacity: maxRememberedPoints, size: func(a atoms) int { return len(a.mass) }}
	// rememberedZCDP holds the pairs of ρ-zCDP mechanisms, by ρ.
	rememberedZCDP = memory[float64, atoms]{capacity: maxRememberedPoints, size: func(a atoms) int { return len(a.mass) }}
)

// memory is a cache of results. When their total size exceeds the capacity, it forgets all of them.
type memory[K comparable, V any] struct {
	capacity int
	size     func(V) int

	lock      sync.Mutex
	values    map[K]V
	totalSize int // the sum of the sizes
}

// getOrCompute returns the value of a key, and calls work for a new key. Two concurrent calls may both compute the
// value, with the same bits.
func (m *memory[K, V]) getOrCompute(key K, work func() V) V {
	m.lock.Lock()
	known, ok := m.values[key]
	m.lock.Unlock()
	if ok {
		return known
	}
	known = work()
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.totalSize += m.size(known); m.values == nil || m.totalSize > m.capacity {
		m.values, m.totalSize = map[K]V{}, m.size(known)
	}
	m.values[key] = known
	return known
}
