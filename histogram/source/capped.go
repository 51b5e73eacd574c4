package source

// This file holds the allocator that a damaged length cannot make ask for the moon.

import "github.com/apache/arrow/go/v17/arrow/memory"

// bufferLimit is the most bytes of one buffer of a message: a length beyond it
// is damage, not data.
const bufferLimit = 1 << 32

// cappedAllocator panics on a buffer beyond bufferLimit, which the reader's
// guard turns into an error; the run-time's own failure could not be caught.
type cappedAllocator struct{ memory.Allocator }

func (c cappedAllocator) Allocate(size int) []byte {
	checkBuffer(size)
	return c.Allocator.Allocate(size)
}

func (c cappedAllocator) Reallocate(size int, b []byte) []byte {
	checkBuffer(size)
	return c.Allocator.Reallocate(size, b)
}

func checkBuffer(size int) {
	if size < 0 || size > bufferLimit {
		panic("a buffer is longer than any file")
	}
}
