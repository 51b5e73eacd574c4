package source

// This file holds the messages of an Arrow stream: read one by one, each length
// checked against the bytes that are left before memory is set aside for it.

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// continuation opens a message; followed by the length 0 it ends the stream.
const continuation = 0xFFFFFFFF

var errMessage = errors.New("a message is longer than what is left of the file")

// messages is the [ipc.MessageReader] of a file.
type messages struct {
	stream  *io.SectionReader
	mem     memory.Allocator
	current *ipc.Message
	second  bool  // the schema has been read
	first   int64 // where the footer of a file says that the message behind the schema begins, negative without a footer
}

// Message returns the next message, which stays valid until the next call, or
// io.EOF at the end marker or the end of the stream.
func (m *messages) Message() (*ipc.Message, error) {
	length, err := m.length()
	if err != nil {
		return nil, err
	}
	head, err := m.take(length)
	if err != nil {
		return nil, err
	}
	defer head.Release()
	if !m.second {
		if err := checkSchema(head.Bytes()); err != nil {
			return nil, err
		}
		m.second = true
	}
	n, err := bodyLength(head.Bytes())
	if err != nil {
		return nil, err
	}
	body, err := m.take(n)
	if err != nil {
		return nil, err
	}
	defer body.Release()
	m.drop()
	m.current = ipc.NewMessage(head, body)
	return m.current, nil
}

// length reads the length of the next message's head. Writers before Arrow 0.15 put no continuation before it. Polars
// puts neither before the schema of a file, which readers need not look at as the footer has it as well: what stands
// there then is where in the message its table begins, which no length of it is.
func (m *messages) length() (int64, error) {
	var word [4]byte
	if _, err := io.ReadFull(m.stream, word[:]); err != nil {
		return 0, err
	}
	prefixed := binary.LittleEndian.Uint32(word[:]) == continuation
	if prefixed {
		if _, err := io.ReadFull(m.stream, word[:]); err != nil {
			return 0, io.ErrUnexpectedEOF
		}
	}
	n := int64(int32(binary.LittleEndian.Uint32(word[:])))
	if !m.second && !prefixed && m.first > 0 {
		word := int64(len(word))
		// a file without batches has its end marker there
		if behind := word + n; behind != m.first && behind+word != m.first {
			_, err := m.stream.Seek(0, io.SeekStart)
			return m.first, err
		}
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// check refuses a length beyond the end of the stream.
func (m *messages) check(n int64) error {
	at, err := m.stream.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	if n < 0 || n > m.stream.Size()-at {
		return errMessage
	}
	return nil
}

// take reads the next bytes of the stream.
func (m *messages) take(n int64) (*memory.Buffer, error) {
	if err := m.check(n); err != nil {
		return nil, err
	}
	b := memory.NewResizableBuffer(m.mem)
	b.Resize(int(n))
	if _, err := io.ReadFull(m.stream, b.Bytes()); err != nil {
		b.Release()
		return nil, err
	}
	return b, nil
}

func (m *messages) drop() {
	if m.current != nil {
		m.current.Release()
		m.current = nil
	}
}

// Release frees the last message; the stream belongs to the file.
func (m *messages) Release() { m.drop() }

// Retain does nothing: one reader holds the messages.
func (m *messages) Retain() {}
