package main

// This file writes the table to files, once, and reads them into the page cache.

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/parquet-go/parquet-go"
)

// row is a row of the Parquet file.
type row struct {
	A      string  `parquet:"a,dict"`
	B      string  `parquet:"b,dict"`
	C      string  `parquet:"c,dict"`
	D      string  `parquet:"d,dict"`
	E      string  `parquet:"e,dict"`
	F      string  `parquet:"f,dict"`
	G      string  `parquet:"g,dict"`
	H      string  `parquet:"h,dict"`
	I      string  `parquet:"i,dict"`
	J      string  `parquet:"j,dict"`
	K      string  `parquet:"k,dict"`
	L      string  `parquet:"l,dict"`
	Age    int64   `parquet:"age"`
	Income float64 `parquet:"income"`
	Person int64   `parquet:"person_id"`
}

// textFields returns pointers to the text fields of a row.
func (r *row) textFields() []*string {
	return []*string{&r.A, &r.B, &r.C, &r.D, &r.E, &r.F, &r.G, &r.H, &r.I, &r.J, &r.K, &r.L}
}

// rowGroup is the number of rows of a row group.
const rowGroup = 1 << 20

// pathOf returns the path of the table's file in a folder, in the format "parquet" or "csv". It writes the file if it
// does not exist.
func (t table) pathOf(dir, format string) (string, error) {
	path := filepath.Join(dir, fmt.Sprintf("table-v%d-%d.%s", tableVersion, t.rows, format))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(dir, "unfinished-*")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	write := t.writeParquet
	if format == "csv" {
		write = t.writeCSV
	}
	err = write(f)
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	return path, err
}

// eachRow calls visit with each row of the table as it is written to files.
func (t table) eachRow(visit func(*row) error) error {
	values := make([][]string, len(columns))
	for c := range columns {
		values[c] = columns[c].texts()
	}
	var r row
	texts := r.textFields()
	n := uint64(0)
	return t.makeRows(func(b *block) error {
		for i, person := range b.person {
			for c, text := range texts {
				*text = values[c][b.codes[c][i]]
			}
			r.Person = personNumber(person)
			r.Age = int64(scatter(uint64(person)) % 111)
			r.Income = float64(scatter(n^seed)>>40) / 128
			n++
			if err := visit(&r); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeParquet writes the table in row groups of a million rows, Snappy.
func (t table) writeParquet(to io.Writer) error {
	w := parquet.NewGenericWriter[row](to, parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(rowGroup))
	rows := make([]row, 0, 4096)
	flush := func() error {
		_, err := w.Write(rows)
		rows = rows[:0]
		return err
	}
	err := t.eachRow(func(r *row) error {
		if rows = append(rows, *r); len(rows) == cap(rows) {
			return flush()
		}
		return nil
	})
	if err == nil {
		err = flush()
	}
	if err != nil {
		return err
	}
	return w.Close()
}

// writeCSV writes the table with a header, nothing quoted.
func (t table) writeCSV(to io.Writer) error {
	w := bufio.NewWriterSize(to, 1<<20)
	for _, c := range columns {
		w.WriteString(c.Name + ",")
	}
	w.WriteString("age,income,person_id\n")
	var line []byte
	var r row
	err := t.eachRow(func(next *row) error {
		r = *next
		line = line[:0]
		for _, text := range r.textFields() {
			line = append(append(line, *text...), ',')
		}
		line = append(strconv.AppendInt(line, r.Age, 10), ',')
		line = append(strconv.AppendFloat(line, r.Income, 'f', -1, 64), ',')
		line = append(strconv.AppendInt(line, r.Person, 10), '\n')
		_, err := w.Write(line)
		return err
	})
	if err != nil {
		return err
	}
	return w.Flush()
}

// readOnce reads a file so that it is in the page cache, and returns its size.
func readOnce(path string) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return io.Copy(io.Discard, f)
}
