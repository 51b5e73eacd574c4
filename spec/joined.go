package spec

// This file holds the join: a public table whose columns are looked up by a key.

// Join is a public table to which the rows of a confidential one are joined: each to the one row that has its key, or
// to none. It is not changed after Parse returns it.
type Join struct {
	Name string
	// File is the public table, a key of [Source.Files], which holds the columns of it that are used.
	File string
	// On are the columns of the key, which both tables have.
	On []string
	// Rows is how many rows the public table has.
	Rows int

	at      map[string]int32 // rows by their keys
	columns map[string]*PublicColumn
}

// PublicColumn is a column of a public table. Codes holds for each row a place in Texts, which are distinct, or −1 for
// null.
type PublicColumn struct {
	Texts []string
	Codes []int32
}

// Join returns the public table of that name, nil if there is none.
func (t *Table) Join(name string) *Join {
	return find(t.Joins, func(j *Join) bool { return j.Name == name })
}

// Column is a column that is looked up in the public table, nil for any other.
func (j *Join) Column(name string) *PublicColumn { return j.columns[name] }

// AppendPart appends the next part of a key, the canonical text of a value, to the parts before it, so that no two keys
// are written alike.
func (j *Join) AppendPart(key, part []byte) []byte {
	if n := len(part); len(j.On) > 1 {
		key = append(key, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	}
	return append(key, part...)
}

// Find is the row that has a key, written part by part with AppendPart; −1 where none has.
func (j *Join) Find(key []byte) int {
	if row, ok := j.at[string(key)]; ok {
		return int(row)
	}
	return -1
}
