package draft

import (
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/big"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/regular"
	"github.com/dprelease/dprelease/internal/verdict"
)

// This file reads the code lists that a draft takes domains from. They are public documents about the data, and contain
// no data.

// codeList is what a document says about one variable: its codes in order, the ends of its range, or both.
type codeList struct {
	from       string // the document
	codes      []code
	low        string // "" if there is no range
	high       string
	isCodebook bool // the document is a code book of this variable only, which a spec can name
}

// code is a category with its label, "" if it has none.
type code struct{ code, label string }

// codeLists maps the lower-case names of variables to their code lists.
type codeLists map[string]*codeList

// forColumn returns the code list of a column, nil if there is none.
func (l codeLists) forColumn(column string) *codeList { return l[strings.ToLower(column)] }

// addVariable returns the code list of a variable that a document describes, a new one if necessary.
func (l codeLists) addVariable(variable, from string) *codeList {
	key := strings.ToLower(strings.TrimSpace(variable))
	if l[key] == nil {
		l[key] = &codeList{from: from}
	}
	return l[key]
}

// maxCodes is the greatest size, in bytes, of a document with code lists.
const maxCodes = 64 << 20

// readCodes reads documents with code lists: a DDI Codebook (.xml); CSV with a column for the variable, one for the
// code and one for the label; or CSV of the variable that the file is named after, with the code in the first column.
// Errors: *[verdict.Unusable].
func readCodes(paths []string) (codeLists, error) {
	lists := codeLists{}
	for _, path := range paths {
		text, err := readDocument(path)
		if err == nil && strings.EqualFold(filepath.Ext(path), ".xml") {
			err = lists.readDDI(path, text)
		} else if err == nil {
			err = lists.readCSV(path, text)
		}
		if err != nil {
			return nil, &verdict.Unusable{File: path, Err: err}
		}
	}
	return lists, nil
}

// readDocument reads a regular file of at most maxCodes bytes, in UTF-8.
func readDocument(path string) (string, error) {
	b, err := regular.Read(path, maxCodes)
	switch {
	case errors.Is(err, regular.ErrNotRegular):
		return "", errors.New("is no file: --codes takes a DDI document (.xml) or a CSV file")
	case verdict.Has[*regular.TooLarge](err):
		return "", fmt.Errorf("has more than %d MB: give the code lists alone", maxCodes>>20)
	case err == nil && !utf8.Valid(b):
		err = errors.New("is not UTF-8")
	}
	return strings.TrimPrefix(string(b), "\ufeff"), err
}

// ddiVariable is a variable of DDI Codebook 2.5 (<var>), in any namespace.
type ddiVariable struct {
	Name       string `xml:"name,attr"`
	Categories []struct {
		Value   string `xml:"catValu"`
		Label   string `xml:"labl"`
		Missing string `xml:"missing,attr"`
	} `xml:"catgry"`
	Range struct {
		Range struct {
			Low  string `xml:"min,attr"`
			High string `xml:"max,attr"`
		} `xml:"range"`
	} `xml:"valrng"`
}

// readDDI reads the variables of a DDI Codebook. It ignores what the document counts in the data (frequencies,
// observed minima).
func (l codeLists) readDDI(path, text string) error {
	d := xml.NewDecoder(strings.NewReader(text))
	found := false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("is not XML: %w", err)
		}
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Local != "var" {
			continue
		}
		var v ddiVariable
		if err := d.DecodeElement(&v, &start); err != nil {
			return fmt.Errorf("is not XML: %w", err)
		}
		found = true
		list := l.addVariable(v.Name, path)
		list.low, list.high = strings.TrimSpace(v.Range.Range.Low), strings.TrimSpace(v.Range.Range.High)
		for _, c := range v.Categories {
			if value := strings.TrimSpace(c.Value); value != "" && !strings.EqualFold(c.Missing, "Y") {
				list.codes = append(list.codes, code{value, strings.Join(strings.Fields(c.Label), " ")})
			}
		}
	}
	if !found {
		return errors.New("has no variable: expected DDI Codebook, with <var name=\"…\"> and <catgry> in it")
	}
	return nil
}

// Names of the columns with the variable, the code and the label of a row of a code list.
var (
	variableNames = []string{"variable", "var", "column", "field", "name"}
	codeNames     = []string{"code", "value", "category"}
	labelNames    = []string{"label", "description", "text", "meaning"}
)

// readCSV reads code lists of several variables, or the code book of one.
func (l codeLists) readCSV(path, text string) error {
	r := csv.NewReader(strings.NewReader(text))
	header, _, _ := strings.Cut(text, "\n")
	for _, delimiter := range []rune{';', '\t'} {
		if strings.Count(header, string(delimiter)) > strings.Count(header, string(r.Comma)) {
			r.Comma = delimiter
		}
	}
	rows, err := r.ReadAll()
	if err != nil {
		return fmt.Errorf("is not CSV: %w", err)
	}
	if len(rows) < 2 {
		return errors.New("has no codes: expected a header, and a line for each code")
	}
	find := func(names []string) int {
		return slices.IndexFunc(rows[0],
			func(s string) bool { return slices.Contains(names, strings.ToLower(strings.TrimSpace(s))) })
	}
	variable, value, label := find(variableNames), find(codeNames), find(labelNames)
	if variable < 0 || value < 0 {
		list := l.addVariable(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), path)
		list.isCodebook = r.Comma == ','
		variable, value = -1, 0
		if label < 0 {
			label = 1
		}
	}
	for _, row := range rows[1:] {
		name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		if variable >= 0 {
			name = row[variable]
		}
		list := l.addVariable(name, path)
		c := code{code: row[value]}
		if label >= 0 && label < len(row) {
			c.label = strings.Join(strings.Fields(row[label]), " ")
		}
		list.codes = append(list.codes, c)
	}
	return nil
}

// mostDrafted is how many codes a draft lists before it asks for a code book instead.
const mostDrafted = 200

// draftDomain drafts the entry of a column from its code list: the text within {…}, and a remark. The entry is "" if
// the list has nothing that can be written.
func (l *codeList) draftDomain(of domain.Type) (entry, remark string) {
	if l == nil {
		return "", ""
	}
	codes := slices.CompactFunc(slices.Clone(l.codes), func(a, b code) bool { return a.code == b.code })
	if entry := l.draftRange(of, len(codes)); entry != "" {
		return entry, "decide: " + filepath.Base(l.from) + " says this range; it must not be taken from the data"
	}
	switch n := len(codes); {
	case n == 0:
		return "", ""
	case l.isCodebook:
		return "codebook: " + quoteYAML(l.from), budget.Plural(int64(n), "code")
	case n > mostDrafted:
		return "values: []", fmt.Sprintf(
			"decide: %s in %s; give them as a code book, {codebook: FILE.csv} with columns code,label",
			budget.Plural(int64(n), "code"), filepath.Base(l.from))
	}
	var written, labels []string
	integers := of == domain.Integer
	for _, c := range codes {
		written = append(written, quoteYAML(c.code))
		if c.label != "" {
			labels = append(labels, c.code+" "+c.label)
		}
		integers = integers && wholeNumber.MatchString(c.code)
	}
	entry = "values: [" + strings.Join(written, ", ") + "]"
	if integers {
		entry = "type: integer, " + entry
	}
	remark = strings.Join(labels, ", ")
	if runes := []rune(remark); len(runes) > 100 {
		remark = string(runes[:99]) + "…"
	}
	return entry, remark
}

var (
	wholeNumber  = regexp.MustCompile(`^(0|-?[1-9][0-9]{0,17})$`)
	plainDecimal = regexp.MustCompile(`^-?[0-9]{1,18}(\.[0-9]{1,9})?$`)
)

// draftRange drafts the range of a code list, if it has one and the range has more whole numbers than there are codes.
func (l *codeList) draftRange(of domain.Type, codes int) string {
	if !plainDecimal.MatchString(l.low) || !plainDecimal.MatchString(l.high) {
		return ""
	}
	low, _ := new(big.Rat).SetString(l.low)
	high, _ := new(big.Rat).SetString(l.high)
	if wide := new(big.Rat).Sub(high, low); wide.Sign() < 0 || wide.Cmp(big.NewRat(int64(codes), 1)) < 0 {
		return ""
	}
	kind := domain.Decimal
	if wholeNumber.MatchString(l.low) && wholeNumber.MatchString(l.high) && of != domain.Decimal {
		kind = domain.Integer
	}
	return fmt.Sprintf("type: %s, range: [%s, %s]", kind, l.low, l.high)
}
