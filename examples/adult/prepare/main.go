// Command prepare codes the UCI Adult files as the example's spec reads them:
// 14 attributes, each a small integer, with a header line.
//
//	go run ./examples/adult/prepare adult.data adult.test > examples/adult/adult14.csv
//
// Run it from the top of the project; the code books are the example's own.
package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// fields are the columns of the UCI files, in their order.
var fields = []string{
	"age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
	"relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income>50K",
}

// bins of the numeric columns: a value is coded (value − from) / width, rounded
// towards zero.
var bins = map[string]struct{ from, width int }{
	"age":            {16, 1},
	"fnlwgt":         {10001, 14900},
	"education-num":  {1, 1},
	"capital-gain":   {0, 1000},
	"capital-loss":   {1, 50},
	"hours-per-week": {1, 1},
}

// left out: the same information is in education-num.
const leftOut = "education"

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: prepare adult.data adult.test > adult14.csv")
		os.Exit(2)
	}
	if err := prepare(os.Stdout, filepath.Join("examples", "adult", "codebooks"), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "prepare:", err)
		os.Exit(1)
	}
}

// prepare codes files one after the other.
func prepare(w io.Writer, codebooks string, paths []string) error {
	c, err := newCoder(codebooks)
	if err != nil {
		return err
	}
	out := csv.NewWriter(w)
	if err := out.Write(c.header()); err != nil {
		return err
	}
	for _, path := range paths {
		if err := c.file(out, path); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	out.Flush()
	return out.Error()
}

// coder turns labels and numbers into codes.
type coder struct{ labels map[string]map[string]string }

// newCoder reads the code books of the columns that are not numbers.
func newCoder(dir string) (*coder, error) {
	c := &coder{labels: map[string]map[string]string{}}
	for _, f := range fields {
		if _, numeric := bins[f]; numeric || f == leftOut {
			continue
		}
		name := strings.ReplaceAll(strings.TrimSuffix(f, ">50K"), "-", "_") + ".csv"
		file, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		rows, err := csv.NewReader(file).ReadAll()
		file.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		codes := map[string]string{}
		for _, row := range rows[1:] {
			codes[row[1]] = row[0]
		}
		codes["?"] = codes["not stated"]
		c.labels[f] = codes
	}
	return c, nil
}

// header is the first line of the coded file.
func (c *coder) header() []string {
	var names []string
	for _, f := range fields {
		if f != leftOut {
			names = append(names, f)
		}
	}
	return names
}

// file codes one UCI file: no header, a comment line in adult.test, spaces after
// commas, and a full stop after the incomes of adult.test.
func (c *coder) file(out *csv.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	in := csv.NewReader(f)
	in.Comment = '|'
	in.TrimLeadingSpace = true
	in.FieldsPerRecord = len(fields)
	for {
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		coded, err := c.row(row)
		if err != nil {
			line, _ := in.FieldPos(0)
			return fmt.Errorf("line %d: %w", line, err)
		}
		if err := out.Write(coded); err != nil {
			return err
		}
	}
}

// row codes one person.
func (c *coder) row(row []string) ([]string, error) {
	var coded []string
	for i, f := range fields {
		if f == leftOut {
			continue
		}
		if b, ok := bins[f]; ok {
			v, err := strconv.Atoi(row[i])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f, err)
			}
			coded = append(coded, strconv.Itoa((v-b.from)/b.width))
			continue
		}
		code, ok := c.labels[f][strings.TrimSuffix(row[i], ".")]
		if !ok {
			return nil, fmt.Errorf("%s: the code book has no such label", f)
		}
		coded = append(coded, code)
	}
	return coded, nil
}
