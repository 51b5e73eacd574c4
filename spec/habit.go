package spec

// This file holds habits from other programs and places: what is often written where the language writes something else.

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// habit is what to write in place of a key of another program.
type habit struct {
	expected string
	meant    string // the key that is not reported as missing, "" for none
}

// whereHabits are other names of a condition on rows.
func whereHabits(expected string) map[string]habit {
	habits := map[string]habit{}
	for _, key := range []string{"filter", "filters", "where", "condition", "subset"} {
		habits[key] = habit{expected: expected}
	}
	return habits
}

// fileExpected says where rows are read from.
const fileExpected = "files on this machine, {parquet: …}, {csv: …} or {arrow: …}: export a table of a database, or download the file, first"

// sourceHabits are sources of other programs.
func sourceHabits() map[string]habit {
	habits := map[string]habit{}
	for _, key := range strings.Fields("postgres postgresql mysql sqlite duckdb sql database table query spark url http https s3 gs azure excel xlsx json stata spss sas file path") {
		habits[key] = habit{expected: fileExpected, meant: "parquet"}
	}
	return habits
}

// withPoint shows how decimals are written.
const withPoint = "a decimal point, as 0.5 and not 0,5"

var (
	digitsOnly   = regexp.MustCompile(`^[0-9]+%?$`)
	decimalComma = regexp.MustCompile(`^-?[0-9]+,[0-9]+%?$`)
	otherDate    = regexp.MustCompile(`^([0-9]{1,2})[/.-]([0-9]{1,2})[/.-]([0-9]{4})$`)
	address      = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)
)

// habit makes a problem with a text say what the language writes in its place, where that is known.
func (c *checker) habit(s *shape, n node, p *Problem) {
	if !n.isText() {
		return
	}
	text := n.text()
	switch {
	case s.kind == number && decimalComma.MatchString(text):
		p.Expected, p.Fix = withPoint, strings.Replace(text, ",", ".", 1)
	case s.kind == number && otherDate.MatchString(text) && s.match.MatchString("2024-01-31"):
		p.Expected, p.Fix = "a date as 2024-01-31: year, month and day", isoDate(text)
	case s.kind == object && slices.Contains(s.governed(), string(Parquet)) && address.MatchString(text):
		p.Expected = fileExpected
	case s.kind == object && slices.Contains(s.governed(), string(Parquet)):
		if format := strings.TrimPrefix(path.Ext(strings.TrimSuffix(strings.TrimSuffix(text, ".gz"), ".zst")), "."); slices.Contains(s.governed(), format) {
			p.Fix = "{" + format + ": " + text + "}"
		}
	}
}

// afterComma reports whether a key is what YAML makes of the places of a number with a decimal comma.
func (c *checker) afterComma(key *yaml.Node) bool {
	before := []rune(c.line(key.Line))
	at := key.Column - 1
	return digitsOnly.MatchString(key.Value) && at >= 2 && at <= len(before) && before[at-1] == ',' && before[at-2] >= '0' && before[at-2] <= '9'
}

// isoDate is a date written with its year last, as year, month and day; "" where day and month cannot be distinguished.
func isoDate(text string) string {
	m := otherDate.FindStringSubmatch(text)
	first, _ := strconv.Atoi(m[1])
	second, _ := strconv.Atoi(m[2])
	day, month := first, second
	if second > 12 {
		day, month = second, first
	}
	iso := m[3] + "-" + twoDigits(month) + "-" + twoDigits(day)
	if _, valid := parseDate(iso); !valid || first <= 12 && second <= 12 && first != second {
		return ""
	}
	return iso
}

func twoDigits(n int) string { return strconv.Itoa(100 + n)[1:] }
