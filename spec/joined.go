package spec

// This file holds the join: a public table whose columns are looked up by a key.

// Join is a public table to which the rows of a confidential table are joined: each row to the only public row that has
// its key, or to none. It is immutable after Parse returns it.
type Join struct {
	Name string
	// File is the public table, a key of [Source.Files], which holds its used columns.
	File string
	// On are the columns of the key, which both tables have.
	On []string
	// Rows is the number of rows of the public table.
	Rows int

	rowOfKey map[string]int32 // the row of each key
	columns  map[string]*PublicColumn
}

// PublicColumn is a column of a public table. Codes holds for each row an index into Texts, which are distinct, or −1
// for null.
type PublicColumn struct {
	Texts []string
	Codes []int32
}

// Join returns the public table of that name, nil if there is none.
func (t *Table) Join(name string) *Join {
	return findFirst(t.Joins, func(j *Join) bool { return j.Name == name })
}

// Column returns a column that is looked up in the public table, nil for any other.
func (j *Join) Column(name string) *PublicColumn { return j.columns[name] }

// AppendPart appends the next part of a key, the canonical text of a value, to the parts before it, in a form in which
// different keys have different encodings.
func (j *Join) AppendPart(key, part []byte) []byte {
	if n := len(part); len(j.On) > 1 {
		key = append(key, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	}
	return append(key, part...)
}

// Find returns the row with a key, which was written part by part with AppendPart: −1 if there is none.
func (j *Join) Find(key []byte) int {
	if row, ok := j.rowOfKey[string(key)]; ok {
		return int(row)
	}
	return -1
}
