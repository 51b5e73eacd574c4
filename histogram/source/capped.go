package source

// This file holds the allocator that a damaged length cannot make ask for the moon.

import "github.com/apache/arrow/go/v17/arrow/memory"

// A buffer is a part of the file or decompressed from one, and no codec of the
// format shrinks real data further than expansion.
const (
	expansion   = 1 << 14
	bufferLimit = 1 << 32
)

// cappedAllocator panics on a buffer of more bytes than the file can hold, which
// the reader's guard turns into an error; a failure of the run-time to find the
// memory could not be caught.
type cappedAllocator struct {
	memory.Allocator
	limit int64
}

// capFor is the allocator for a file of that many bytes.
func capFor(mem memory.Allocator, size int64) cappedAllocator {
	limit := int64(bufferLimit)
	if size < bufferLimit/expansion {
		limit = size * expansion
	}
	return cappedAllocator{mem, limit}
}

func (c cappedAllocator) Allocate(size int) []byte {
	c.check(size)
	return c.Allocator.Allocate(size)
}

func (c cappedAllocator) Reallocate(size int, b []byte) []byte {
	c.check(size)
	return c.Allocator.Reallocate(size, b)
}

func (c cappedAllocator) check(size int) {
	if size < 0 || int64(size) > c.limit {
		panic("a buffer is longer than its file can hold")
	}
}
