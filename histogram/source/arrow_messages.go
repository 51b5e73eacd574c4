package source

// This file holds the messages of an Arrow stream. They are read one by one, and each length is checked against the
// bytes that are left before memory is allocated for it.

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// continuation opens a message. If it is followed by the length 0, it ends the stream.
const continuation = 0xFFFFFFFF

var errMessage = errors.New("a message is longer than what is left of the file")

// messages is the [ipc.MessageReader] of a file.
type messages struct {
	stream     *io.SectionReader
	mem        memory.Allocator
	current    *ipc.Message
	schemaRead bool  // the schema has been read
	first      int64 // offset of the message after the schema by the footer, negative without a footer
}

// Message returns the next message, which stays valid until the next call, or
// io.EOF at the end marker or the end of the stream.
func (m *messages) Message() (*ipc.Message, error) {
	length, err := m.readLength()
	if err != nil {
		return nil, err
	}
	head, err := m.readBuffer(length)
	if err != nil {
		return nil, err
	}
	defer head.Release()
	if !m.schemaRead {
		if err := checkSchema(head.Bytes()); err != nil {
			return nil, err
		}
		m.schemaRead = true
	}
	n, err := bodyLength(head.Bytes())
	if err != nil {
		return nil, err
	}
	body, err := m.readBuffer(n)
	if err != nil {
		return nil, err
	}
	defer body.Release()
	m.releaseCurrent()
	m.current = ipc.NewMessage(head, body)
	return m.current, nil
}

// readLength reads the length of the head of the next message. Writers before Arrow 0.15 put no continuation before
// the length. Polars writes neither before the schema of a file, because readers may take the schema from the footer:
// the word in its place is the offset of the table within the message, which cannot be a length of the message.
func (m *messages) readLength() (int64, error) {
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
	if !m.schemaRead && !prefixed && m.first > 0 {
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

// checkLength refuses a length beyond the end of the stream.
func (m *messages) checkLength(n int64) error {
	at, err := m.stream.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	if n < 0 || n > m.stream.Size()-at {
		return errMessage
	}
	return nil
}

// readBuffer reads the next n bytes of the stream.
func (m *messages) readBuffer(n int64) (*memory.Buffer, error) {
	if err := m.checkLength(n); err != nil {
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

func (m *messages) releaseCurrent() {
	if m.current != nil {
		m.current.Release()
		m.current = nil
	}
}

// Release frees the last message; the stream belongs to the file.
func (m *messages) Release() { m.releaseCurrent() }

// Retain does nothing: the messages have a single owner, the reader.
func (m *messages) Retain() {}
