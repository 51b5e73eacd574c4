package source

// This file holds the part of the FlatBuffers encoding that is needed to check that the lengths in a schema fit into
// the bytes that are there, before the Arrow decoder allocates memory for them.

import (
	"encoding/binary"
	"errors"
)

var errLengths = errors.New("a length in its schema does not fit into the file")

// flatTable is a FlatBuffers table: an offset in a buffer. Reads outside the buffer panic, and the recoverDecoder
// guard turns the panic into an error.
type flatTable struct {
	buffer []byte
	at     uint32
}

// rootTable returns the outermost table of a buffer.
func rootTable(buffer []byte) flatTable { return flatTable{buffer, binary.LittleEndian.Uint32(buffer)} }

// fieldOffset returns where field i of the table lies, 0 if it is absent. As in the decoder, a field is present if
// its slot begins within the vtable, whether or not the slot also ends there.
func (t flatTable) fieldOffset(i uint32) uint32 {
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

// childTable returns the table that field i refers to, and whether there is one.
func (t flatTable) childTable(i uint32) (flatTable, bool) {
	at := t.fieldOffset(i)
	if at == 0 {
		return flatTable{}, false
	}
	return flatTable{t.buffer, at + binary.LittleEndian.Uint32(t.buffer[at:])}, true
}

// vectorBounds returns where the elements of field i begin and how many there are, each of size bytes.
func (t flatTable) vectorBounds(i, size uint32) (begin, n uint32, err error) {
	at := t.fieldOffset(i)
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

// Indexes of the fields of the tables in Arrow's Message.fbs, Schema.fbs and File.fbs, and limits.
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
	schema, ok := rootTable(message).childTable(messageHeader)
	if !ok {
		return errLengths
	}
	if _, _, err := schema.vectorBounds(schemaMetadata, 4); err != nil {
		return err
	}
	left := len(message) // bounds the number of fields: each takes at least a byte
	return checkFields(schema, schemaFields, deepestField, &left)
}

// checkFields checks the fields in a vector of a table, and their child fields down to depth.
func checkFields(t flatTable, slot uint32, depth int, left *int) error {
	begin, n, err := t.vectorBounds(slot, 4)
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
		field := flatTable{t.buffer, at + binary.LittleEndian.Uint32(t.buffer[at:])}
		if _, _, err := field.vectorBounds(fieldMetadata, 4); err != nil {
			return err
		}
		if kind := field.fieldOffset(fieldTypeKind); kind != 0 && t.buffer[kind] == unionKind {
			if union, ok := field.childTable(fieldType); ok {
				if _, _, err := union.vectorBounds(unionTypeIDs, 4); err != nil {
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

// bodyLength returns how many bytes of body follow a message.
func bodyLength(message []byte) (int64, error) {
	at := rootTable(message).fieldOffset(messageBody)
	if at == 0 {
		return 0, nil
	}
	n := int64(binary.LittleEndian.Uint64(message[at:]))
	if n < 0 {
		return 0, errLengths
	}
	return n, nil
}

// listedBatches returns the number of record batches that a footer lists, and the offset in the file of the first of
// its dictionaries and batches. If the footer lists none, first is behind, the offset of the footer itself.
func listedBatches(footer []byte, behind int64) (batches int, first int64, err error) {
	first = behind
	for _, slot := range []uint32{footerDictionaries, footerBatches} {
		begin, n, err := rootTable(footer).vectorBounds(slot, footerBlockBytes)
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
