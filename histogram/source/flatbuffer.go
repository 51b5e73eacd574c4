package source

// This file holds as much of the FlatBuffers encoding as it takes to check, before
// the Arrow decoder sets memory aside for them, that the lengths in a schema fit
// into the bytes that are there.

import (
	"encoding/binary"
	"errors"
)

var errLengths = errors.New("a length in its schema does not fit into the file")

// table is a FlatBuffers table: a place in a buffer. Reads outside the buffer
// panic, which the reader's guard turns into an error.
type table struct {
	buffer []byte
	at     uint32
}

// root is the outermost table of a buffer.
func root(buffer []byte) table { return table{buffer, binary.LittleEndian.Uint32(buffer)} }

// slot is where field i of the table lies, 0 where it is absent: as in the decoder
// one is there whose place begins within the vtable, whether or not it ends there.
func (t table) slot(i uint32) uint32 {
	vtable := uint32(int64(t.at) - int64(int32(binary.LittleEndian.Uint32(t.buffer[t.at:]))))
	if 4+2*i >= uint32(binary.LittleEndian.Uint16(t.buffer[vtable:])) {
		return 0
	}
	offset := uint32(binary.LittleEndian.Uint16(t.buffer[vtable+4+2*i:]))
	if offset == 0 {
		return 0
	}
	return t.at + offset
}

// child is the table that field i refers to.
func (t table) child(i uint32) (table, bool) {
	at := t.slot(i)
	if at == 0 {
		return table{}, false
	}
	return table{t.buffer, at + binary.LittleEndian.Uint32(t.buffer[at:])}, true
}

// vector is where the elements of field i begin and how many of size bytes each
// there are.
func (t table) vector(i, size uint32) (begin, n uint32, err error) {
	at := t.slot(i)
	if at == 0 {
		return 0, 0, nil
	}
	at += binary.LittleEndian.Uint32(t.buffer[at:])
	n = binary.LittleEndian.Uint32(t.buffer[at:])
	begin = at + 4
	if uint64(begin)+uint64(n)*uint64(size) > uint64(len(t.buffer)) {
		return 0, 0, errLengths
	}
	return begin, n, nil
}

// Fields of the tables of Arrow's Message.fbs, Schema.fbs and File.fbs by place.
const (
	messageHeader      = 2
	messageBody        = 3
	schemaFields       = 1
	schemaMetadata     = 2
	fieldTypeKind      = 2
	fieldType          = 3
	fieldChildren      = 5
	fieldMetadata      = 6
	unionTypeIDs       = 1
	footerDictionaries = 2
	footerBatches      = 3
	footerBlockBytes   = 24
	unionKind          = 14
	deepestField       = 64
)

// checkSchema checks the schema message that opens a stream.
func checkSchema(message []byte) error {
	schema, ok := root(message).child(messageHeader)
	if !ok {
		return errLengths
	}
	if _, _, err := schema.vector(schemaMetadata, 4); err != nil {
		return err
	}
	left := len(message) // every field takes at least a byte
	return checkFields(schema, schemaFields, deepestField, &left)
}

// checkFields checks the fields in a vector of a table, and theirs.
func checkFields(t table, slot uint32, depth int, left *int) error {
	begin, n, err := t.vector(slot, 4)
	if err != nil {
		return err
	}
	if n > 0 && depth == 0 {
		return errLengths
	}
	for i := range n {
		if *left--; *left < 0 {
			return errLengths
		}
		at := begin + 4*i
		field := table{t.buffer, at + binary.LittleEndian.Uint32(t.buffer[at:])}
		if _, _, err := field.vector(fieldMetadata, 4); err != nil {
			return err
		}
		if kind := field.slot(fieldTypeKind); kind != 0 && t.buffer[kind] == unionKind {
			if union, ok := field.child(fieldType); ok {
				if _, _, err := union.vector(unionTypeIDs, 4); err != nil {
					return err
				}
			}
		}
		if err := checkFields(field, fieldChildren, depth-1, left); err != nil {
			return err
		}
	}
	return nil
}

// bodyLength is how many bytes of body follow a message.
func bodyLength(message []byte) (int64, error) {
	at := root(message).slot(messageBody)
	if at == 0 {
		return 0, nil
	}
	n := int64(binary.LittleEndian.Uint64(message[at:]))
	if n < 0 {
		return 0, errLengths
	}
	return n, nil
}

// listedBatches is the number of record batches that a footer lists, and where in the file the first of its
// dictionaries and batches begins, behind where the footer itself begins where it lists none.
func listedBatches(footer []byte, behind int64) (batches int, first int64, err error) {
	first = behind
	for _, slot := range []uint32{footerDictionaries, footerBatches} {
		begin, n, err := root(footer).vector(slot, footerBlockBytes)
		if err != nil {
			return 0, 0, err
		}
		for i := range n {
			first = min(first, int64(binary.LittleEndian.Uint64(footer[begin+i*footerBlockBytes:])))
		}
		batches = int(n)
	}
	return batches, first, nil
}
