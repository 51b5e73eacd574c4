package source

import (
	"bytes"
	"fmt"
	"math/rand"
	"strconv"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/files"
)

// listed is a Coder for a list of texts; every other text has the last code.
type listed map[string]uint32

func listOf(texts ...string) listed {
	l := listed{}
	for i, s := range texts {
		l[s] = uint32(i)
	}
	return l
}

func (l listed) Width() int { return 1 }

func (l listed) Codes(values arrow.Array, codes []uint32) {
	for i := range codes {
		codes[i] = 255
		switch a := values.(type) {
		case *array.String:
			if code, ok := l[a.Value(i)]; ok && a.IsValid(i) {
				codes[i] = code
			}
		case *array.Int64:
			codes[i] = uint32(a.Value(i) & 127)
		}
	}
}

// benchRows is the number of rows of the tables of benchmarks.
const benchRows = 1 << 18

// benchDomains are the sizes of the domains of their categorical columns, whose texts are "value 0000001 x" and so
// on.
var benchDomains = []int{2, 2, 3, 5, 7, 9, 15, 16, 42, 51, 85, 100}

func benchText(i int) string { return fmt.Sprintf("value %07d x", i) }

func benchCoder(size int) Coder {
	texts := make([]string, size)
	for i := range texts {
		texts[i] = benchText(i)
	}
	return listOf(texts...)
}

// BenchmarkCSV reads 12 categorical columns of text and an age of two digits as codes, and an id as values, from rows
// of 240 bytes, with one goroutine. The target is 250 MB/s.
func BenchmarkCSV(b *testing.B) {
	r := rand.New(rand.NewSource(1))
	for _, quoted := range []bool{false, true} {
		var text bytes.Buffer
		var columns []Column
		quote := map[bool]string{true: `"`}[quoted]
		for i, size := range benchDomains {
			fmt.Fprintf(&text, "c%d,", i)
			columns = append(columns, Column{Name: fmt.Sprintf("c%d", i), Coder: benchCoder(size)})
		}
		text.WriteString("age,income,id\n")
		for range benchRows {
			for _, size := range benchDomains {
				text.WriteString(quote + benchText(r.Intn(size)) + quote + ",")
			}
			text.WriteString(strconv.Itoa(18+r.Intn(82)) + "," + strconv.FormatFloat(r.ExpFloat64()*30000, 'f', 2,
				64) + "," +
				strconv.Itoa(r.Int()) + "\n")
		}
		ages := make([]string, 100)
		for i := range ages {
			ages[i] = strconv.Itoa(i)
		}
		columns = append(columns, Column{Name: "age", Coder: listOf(ages...)}, Column{Name: "id"})
		dir := b.TempDir()
		writeFile(b, dir, "a.csv", text.Bytes())
		for _, narrow := range []bool{false, true} {
			wanted := columns
			if narrow {
				wanted = columns[len(columns)-2:]
			}
			b.Run(fmt.Sprintf("quoted=%v/columns=%d", quoted, len(wanted)), func(b *testing.B) {
				b.SetBytes(int64(text.Len()))
				var buffers Buffers
				begin := cpuTime(b)
				for range b.N {
					if n := readAll(b, dir, spec.TableSource{Format: files.CSV, Paths: []string{"a.csv"},
						Nulls: []string{""}}, wanted,
						&buffers); n != benchRows {
						b.Fatal(n)
					}
				}
				b.ReportMetric(float64(b.N)*float64(text.Len())/1e6/(cpuTime(b)-begin).Seconds(), "MB/cpu-s")
			})
		}
	}
}

// readAll reads a table with one goroutine and returns its rows.
func readAll(t testing.TB, dir string, s spec.TableSource, columns []Column, b *Buffers) (n int64) {
	t.Helper()
	r, err := openFiles(t.Context(), dir, s, columns)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return readPieces(t, r, b)
}
