package tabulate

// This file holds the super-columns: it turns the codes of columns into the codes of groups.

import "fmt"

// Codes are the codes of one column for some rows, in one of three widths; the other two are nil.
type Codes struct {
	U8  []uint8
	U16 []uint16
	U32 []uint32
}

// Len returns how many codes there are.
func (c Codes) Len() int { return max(len(c.U8), len(c.U16), len(c.U32)) }

// code is a width of codes.
type code interface{ uint8 | uint16 | uint32 }

// wide is a width of combined codes.
type wide interface{ uint16 | uint32 | uint64 }

// term is what an axis adds to a combined code: stride times its code.
type term[T wide] struct {
	column  int
	stride  T
	adds    []T // what each code of the column adds; nil: stride times the code
	largest int // largest value that it adds, if that is stride times the code; else −1
}

// newTerm returns the term of an axis. Short look-up tables have all 256 entries, so that no code of one byte has to
// be checked against their length.
func newTerm[T wide](a Axis, stride int) term[T] {
	t := term[T]{column: a.Column, stride: T(stride), largest: (a.Size - 1) * stride}
	if a.CodeOf != nil {
		t.largest = -1
	}
	if a.CodeOf == nil && a.Size > 256 {
		return t
	}
	codes := len(a.CodeOf)
	if a.CodeOf == nil {
		codes = a.Size
	}
	t.adds = make([]T, max(codes, 256))
	for c := range codes {
		t.adds[c] = T(c) * T(stride)
		if a.CodeOf != nil {
			t.adds[c] = T(a.CodeOf[c]) * T(stride)
		}
	}
	return t
}

// looksUp reports whether the column of a term has codes of one byte and the term has a look-up table.
func looksUp[T wide](t term[T], columns []Codes) bool {
	return t.adds != nil && columns[t.column].U8 != nil
}

// inLanes returns how many of the next two terms have columns of bytes and add together at most what a lane of a byte
// holds.
func inLanes[T wide](out []T, terms []term[T], columns []Codes) int {
	if _, short := any(out).([]uint16); !short {
		return 0
	}
	most := 0
	for i, t := range terms[:min(2, len(terms))] {
		if most += t.largest; t.largest < 0 || most > laneByte || columns[t.column].U8 == nil {
			return i
		}
	}
	return min(2, len(terms))
}

// combineTerms writes the sum of the terms of the rows from..from+len(out), or of the rows at places after from if
// places is not nil.
func combineTerms[T wide](out []T, terms []term[T], columns []Codes, from int, places []int32) error {
	if len(terms) == 0 {
		clear(out)
	}
	for i := 0; i < len(terms); i++ {
		t := terms[i]
		c := columns[t.column]
		first, lanes := i == 0, 0
		if places == nil {
			lanes = inLanes(out, terms[i:], columns)
		}
		switch {
		case lanes == 2:
			i++
			addLanes(any(out).([]uint16), c.U8[from:], uint16(t.stride), columns[terms[i].column].U8[from:],
				uint16(terms[i].stride), first)
		case lanes == 1: // with itself, times 0
			addLanes(any(out).([]uint16), c.U8[from:], uint16(t.stride), c.U8[from:], 0, first)
		case i+1 < len(terms) && looksUp(t, columns) && looksUp(terms[i+1], columns):
			i++
			addPairs(out, (*[256]T)(t.adds), (*[256]T)(terms[i].adds), c.U8[from:], columns[terms[i].column].U8[from:],
				places, first)
		case looksUp(t, columns):
			addBytes(out, (*[256]T)(t.adds), c.U8[from:], places, first)
		case c.U8 != nil:
			addCodes(out, t, c.U8[from:], places, first)
		case c.U16 != nil:
			addCodes(out, t, c.U16[from:], places, first)
		case c.U32 != nil:
			addCodes(out, t, c.U32[from:], places, first)
		default:
			return fmt.Errorf("tabulate: column %d has no codes", t.column)
		}
	}
	return nil
}

// addBytes adds the term of a column of bytes.
func addBytes[T wide](out []T, of *[256]T, codes []uint8, places []int32, first bool) {
	switch {
	case places == nil && first:
		codes = codes[:len(out)]
		for i, c := range codes {
			out[i] = of[c]
		}
	case places == nil:
		codes = codes[:len(out)]
		for i, c := range codes {
			out[i] += of[c]
		}
	case first:
		places = places[:len(out)]
		for i, p := range places {
			out[i] = of[codes[p]]
		}
	default:
		places = places[:len(out)]
		for i, p := range places {
			out[i] += of[codes[p]]
		}
	}
}

// addPairs adds the terms of two columns of bytes: two at a time cost little more than one.
func addPairs[T wide](out []T, ofA, ofB *[256]T, a, b []uint8, places []int32, first bool) {
	switch {
	case places == nil && first:
		a, b = a[:len(out)], b[:len(out)]
		for i, x := range a {
			out[i] = ofA[x] + ofB[b[i]]
		}
	case places == nil:
		a, b = a[:len(out)], b[:len(out)]
		for i, x := range a {
			out[i] += ofA[x] + ofB[b[i]]
		}
	case first:
		n := min(len(a), len(b))
		places, a, b = places[:len(out)], a[:n], b[:n]
		for i, p := range places {
			out[i] = ofA[a[p]] + ofB[b[p]]
		}
	default:
		n := min(len(a), len(b))
		places, a, b = places[:len(out)], a[:n], b[:n]
		for i, p := range places {
			out[i] += ofA[a[p]] + ofB[b[p]]
		}
	}
}

// addCodes adds the term of a column of any width.
func addCodes[C code, T wide](out []T, t term[T], codes []C, places []int32, first bool) {
	if first {
		clear(out)
	}
	switch {
	case places == nil && t.adds == nil:
		codes = codes[:len(out)]
		for i, c := range codes {
			out[i] += T(c) * t.stride
		}
	case places == nil:
		codes = codes[:len(out)]
		for i, c := range codes {
			out[i] += t.adds[c]
		}
	case t.adds == nil:
		places = places[:len(out)]
		for i, p := range places {
			out[i] += T(codes[p]) * t.stride
		}
	default:
		places = places[:len(out)]
		for i, p := range places {
			out[i] += t.adds[codes[p]]
		}
	}
}
