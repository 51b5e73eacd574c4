package budget

import "sync"

// This file holds the cache in which results are kept.

const (
	// maxRemembered is the number of answers kept, some 200 kB of them.
	maxRemembered = 1 << 12
	// maxRememberedPoints bounds the pairs that are kept: 16 MB of masses.
	maxRememberedPoints = 1 << 21
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
