package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/dprelease/dprelease/internal/parallel"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// This file writes the nation's files.

// personRow is a row of the confidential file of persons.
type personRow struct {
	Block    string `parquet:"block,dict"`
	Quarters string `parquet:"hhgq,dict"`
	Age      int32  `parquet:"age"`
	Hispanic string `parquet:"hisp,dict"`
	Race     string `parquet:"race,dict"`
}

// unitRow is a row of the public file of housing units and facilities.
type unitRow struct {
	Block  string `parquet:"block"`
	Type   string `parquet:"type,dict"`
	Number int32  `parquet:"number"`
}

// writer writes a nation to a folder.
type writer struct {
	nation
	dir     string
	shuffle bool // persons in random order, not by block
}

// write writes all files with at most the given number of goroutines: one for the geography, and one for each state.
func (w writer) write(workers int) (*summary, error) {
	if err := w.prepare(); err != nil {
		return nil, err
	}
	var states []area
	for _, s := range w.parts(w.whole()) {
		if w.concerns(s) {
			states = append(states, s)
		}
	}
	total, ofStates := new(summary), make([]*summary, len(states))
	err := parallel.Do(context.Background(), workers, len(states)+1, func(i int) (err error) {
		if i == 0 {
			return w.writeGeography(states, total)
		}
		ofStates[i-1], err = w.writeState(states[i-1])
		return err
	})
	if err != nil {
		return nil, err
	}
	totals := [][]string{{"state", "count"}}
	for i, s := range ofStates {
		totals = append(totals, []string{states[i].code, strconv.Itoa(s.persons())})
		total.merge(s)
	}
	if total.persons() == 0 {
		return nil, fmt.Errorf("no area has the code %s, or no person lives there", w.only)
	}
	return total, w.writeTable("geo/state-totals.csv", totals)
}

// prepare makes the folders, removes the files of states of an earlier nation, which patterns of names would include,
// and writes the code books.
func (w writer) prepare() error {
	for _, pattern := range []string{"cef/persons-*.parquet", "geo/units-*.parquet"} {
		if err := os.MkdirAll(filepath.Join(w.dir, filepath.Dir(pattern)), 0o755); err != nil {
			return err
		}
		old, err := filepath.Glob(filepath.Join(w.dir, pattern))
		if err != nil {
			return err
		}
		for _, name := range old {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	races := [][]string{{"code", "label", "races"}}
	for i, s := range raceSets {
		races = append(races, []string{raceCodes[i+1], s.String(), strconv.Itoa(s.size())})
	}
	quarters := [][]string{{"code", "label"}, {"0", "Housing units and households"}}
	for kind := 1; kind < kinds; kind++ {
		quarters = append(quarters, []string{quarterCodes[kind], facilities[kind].name})
	}
	if err := w.writeTable("race63.csv", races); err != nil {
		return err
	}
	return w.writeTable("gq.csv", quarters)
}

// raceCodes and quarterCodes are codes as they are written: 01 to 63, and 0 to 7.
var (
	raceCodes    = listCodes(len(raceSets)+1, 2)
	quarterCodes = listCodes(kinds, 1)
)

func listCodes(n, digits int) []string {
	codes := make([]string, n)
	for i := range codes {
		codes[i] = fmt.Sprintf("%0*d", digits, i)
	}
	return codes
}

// writeTable writes a small CSV file.
func (w writer) writeTable(name string, rows [][]string) error {
	return w.writeRows(name, func(add func(fields ...string)) error {
		for _, row := range rows {
			add(row...)
		}
		return nil
	})
}

// writeRows writes a CSV file row by row. No field needs quotes.
func (w writer) writeRows(name string, rows func(add func(fields ...string)) error) (err error) {
	f, err := os.Create(filepath.Join(w.dir, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	defer closeFile(f, &err)
	b := bufio.NewWriterSize(f, 1<<16) // keeps its first error until it is flushed
	if err := rows(func(fields ...string) {
		for i, field := range fields {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(field)
		}
		b.WriteByte('\n')
	}); err != nil {
		return err
	}
	return b.Flush()
}

// closeFile closes a file that was written, and reports the error unless there is another.
func closeFile(f *os.File, err *error) {
	if e := f.Close(); *err == nil {
		*err = e
	}
}

// writeGeography writes the code book of the blocks and the list of places, and counts the places.
func (w writer) writeGeography(states []area, s *summary) error {
	return w.writeRows("geo/blocks.csv", func(addBlock func(...string)) error {
		return w.writeRows("geo/places.csv", func(addPlace func(...string)) error {
			addBlock("block", "us", "state", "county", "tract", "bg", "aian")
			addPlace("place", "block")
			for _, st := range states {
				for _, c := range w.parts(st) {
					if w.concerns(c) {
						w.writeCounty(c, addBlock, addPlace, s)
					}
				}
			}
			return nil
		})
	})
}

// writeCounty writes the blocks and places of a county. Places are drawn for the whole county, whatever part is made.
func (w writer) writeCounty(c area, addBlock, addPlace func(...string), s *summary) {
	var tracts [][]area
	for _, t := range w.parts(c) {
		var blocks []area
		for _, g := range w.parts(t) {
			blocks = append(blocks, w.parts(g)...)
		}
		for _, b := range blocks {
			if w.contains(b) {
				aian := "0"
				if b.reservation {
					aian = "1"
				}
				addBlock(b.code, levelNames[us], b.in(state), b.in(county), b.in(tract), b.in(group), aian)
			}
		}
		tracts = append(tracts, blocks)
	}
	var last, firstTract string
	isCut := false
	w.placesOf(c, tracts, func(place string, b area) {
		if !w.contains(b) {
			return
		}
		addPlace(place, b.code)
		if place != last {
			s.figures[places]++
			last, firstTract, isCut = place, b.in(tract), false
		}
		if b.in(tract) != firstTract && !isCut {
			s.figures[crossingPlaces]++
			isCut = true
		}
	})
}

// waitingRows is how many rows are kept before they are written.
const waitingRows = 1 << 16

// resident is a person and the place of the block in a list of codes.
type resident struct {
	block int32
	person
}

// writeState writes the persons and the units of a state.
func (w writer) writeState(s area) (*summary, error) {
	persons, err := createParquet[personRow](filepath.Join(w.dir, "cef", "persons-"+s.code+".parquet"))
	if err != nil {
		return nil, err
	}
	units, err := createParquet[unitRow](filepath.Join(w.dir, "geo", "units-"+s.code+".parquet"))
	if err != nil {
		return nil, errors.Join(err, persons.close())
	}
	c, codes, waiting, p := new(counter), []string(nil), []resident(nil), people{}
	flush := func() {
		for _, r := range waiting {
			persons.add(r.row(codes[r.block]))
		}
		codes, waiting = codes[:0], waiting[:0]
	}
	w.walk(s, func(a area) {
		c.areas[a.level]++
		if a.level != block {
			return
		}
		p = w.people(a, p.persons[:0])
		c.addBlock(a, p)
		for _, one := range p.persons {
			waiting = append(waiting, resident{int32(len(codes)), one})
		}
		codes = append(codes, a.code)
		for kind, number := range p.units {
			if number > 0 {
				units.add(unitRow{a.code, quarterCodes[kind], int32(number)})
			}
		}
		if len(waiting) >= waitingRows && !w.shuffle {
			flush()
		}
	})
	if w.shuffle {
		newStream(w.seed, "shuffle", s.code).Shuffle(len(waiting), func(i, j int) {
			waiting[i], waiting[j] = waiting[j], waiting[i]
		})
	}
	flush()
	return &c.summary, errors.Join(persons.close(), units.close())
}

// row returns a person as a row.
func (r resident) row(code string) personRow {
	row := personRow{code, quarterCodes[r.quarters], int32(r.age), "no", raceCodes[r.race]}
	if r.isHispanic {
		row.Hispanic = "yes"
	}
	return row
}

// parquetFile is a Parquet file that is being written. It keeps its first error until it is closed.
type parquetFile[T any] struct {
	file    *os.File
	writer  *parquet.GenericWriter[T]
	waiting []T
	err     error
}

// rowsPerGroup bounds the memory of a file.
const rowsPerGroup = 1 << 20

func createParquet[T any](path string) (*parquetFile[T], error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	w := parquet.NewGenericWriter[T](f, parquet.Compression(&zstd.Codec{}), parquet.MaxRowsPerRowGroup(rowsPerGroup),
		parquet.CreatedBy("dprelease examples", "", ""))
	return &parquetFile[T]{file: f, writer: w}, nil
}

func (f *parquetFile[T]) add(row T) {
	if f.waiting = append(f.waiting, row); len(f.waiting) == 1<<10 {
		f.flush()
	}
}

func (f *parquetFile[T]) flush() {
	if f.err == nil {
		_, f.err = f.writer.Write(f.waiting)
	}
	f.waiting = f.waiting[:0]
}

func (f *parquetFile[T]) close() error {
	f.flush()
	if f.err == nil {
		f.err = f.writer.Close()
	}
	closeFile(f.file, &f.err)
	return f.err
}
