package source

// This file holds the allocator that limits what a damaged length can ask for.

import "github.com/apache/arrow/go/v17/arrow/memory"

// A buffer is a part of the file or decompressed from a part, and no codec of the format shrinks real data by more
// than the factor expansion.
const (
	expansion   = 1 << 14
	bufferLimit = 1 << 32
)

// cappedAllocator panics if a buffer is larger than the file can hold. The recoverDecoder guard turns the panic into
// an error, whereas an out-of-memory failure of the Go runtime could not be caught.
type cappedAllocator struct {
	memory.Allocator
	limit int64
}

// capFor returns the allocator for a file of size bytes.
func capFor(mem memory.Allocator, size int64) cappedAllocator {
	limit := int64(bufferLimit)
	if size < bufferLimit/expansion {
		limit = size * expansion
	}
	return cappedAllocator{mem, limit}
}

func (c cappedAllocator) Allocate(size int) []byte {
	c.checkSize(size)
	return c.Allocator.Allocate(size)
}

func (c cappedAllocator) Reallocate(size int, b []byte) []byte {
	c.checkSize(size)
	return c.Allocator.Reallocate(size, b)
}

func (c cappedAllocator) checkSize(size int) {
	if size < 0 || int64(size) > c.limit {
		panic("a buffer is longer than its file can hold")
	}
}
