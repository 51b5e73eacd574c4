package ledger

// The entries of a rehearsal: in memory, gone with the process.

import (
	"context"
	"fmt"
	"sync"
)

// memory is the store of a rehearsal.
type memory struct {
	mutex sync.Mutex
	lines []line
}

func (m *memory) view(ctx context.Context) (*book, error) {
	return m.update(ctx, func(*book) ([]line, error) { return nil, nil })
}

func (m *memory) update(ctx context.Context, change func(*book) ([]line, error)) (*book, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	b := newBook("(rehearsal)")
	b.rehearsal = true
	for _, l := range m.lines {
		if err := b.readLine(l); err != nil {
			return nil, err
		}
	}
	lines, err := change(b)
	if err != nil {
		return nil, err
	}
	m.lines = append(m.lines, lines...)
	return b, nil
}

func (m *memory) checkStorage(context.Context) error { return nil }

func (m *memory) upgrade(context.Context) ([]string, error) { return nil, nil }

func (m *memory) close() error { return nil }
