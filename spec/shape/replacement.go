package shape

// This file recognises habits from other programs and places: what people often write where this language has another
// form.

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/dprelease/dprelease/spec/document"
	"gopkg.in/yaml.v3"
)

// Replacement says what to write in place of a key of another program.
type Replacement struct {
	Expected string
	Meant    string // the key not to report as missing, "" for none
}

// withPoint shows how decimals are written.
const withPoint = "a decimal point, such as 0.5 and not 0,5"

var (
	digitsOnly   = regexp.MustCompile(`^[0-9]+%?$`)
	decimalComma = regexp.MustCompile(`^-?[0-9]+,[0-9]+%?$`)
	otherDate    = regexp.MustCompile(`^([0-9]{1,2})[/.-]([0-9]{1,2})[/.-]([0-9]{4})$`)
)

// applyHabit completes the problem of a text with what the language writes in its place, where that is known.
func (c *checker) applyHabit(s *Shape, n document.Node, p *document.Problem) {
	if !n.IsText() {
		return
	}
	text := n.Text()
	switch {
	case s.kind == number && decimalComma.MatchString(text):
		p.Expected, p.Fix = withPoint, strings.Replace(text, ",", ".", 1)
	case s.kind == number && otherDate.MatchString(text) && s.match.MatchString("2024-01-31"):
		p.Expected, p.Fix = "a date as 2024-01-31: year, month and day", isoDate(text)
	case s.ReplacementFor != nil:
		expected, fix := s.ReplacementFor(text)
		p.Expected, p.Fix = cmp.Or(expected, p.Expected), cmp.Or(fix, p.Fix)
	}
}

// afterComma reports whether a key is what YAML reads as the decimal places of a number with a decimal comma.
func (c *checker) afterComma(key *yaml.Node) bool {
	before := []rune(c.Line(key.Line))
	at := key.Column - 1
	return digitsOnly.MatchString(key.Value) && at >= 2 && at <= len(before) && before[at-1] == ',' &&
		before[at-2] >= '0' && before[at-2] <= '9'
}

// isoDate rewrites a date with its year last as year, month and day. It returns "" if day and month cannot be
// distinguished.
func isoDate(text string) string {
	m := otherDate.FindStringSubmatch(text)
	first, _ := strconv.Atoi(m[1])
	second, _ := strconv.Atoi(m[2])
	day, month := first, second
	if second > 12 {
		day, month = second, first
	}
	iso := fmt.Sprintf("%s-%02d-%02d", m[3], month, day)
	if _, err := time.Parse(time.DateOnly, iso); err != nil || first <= 12 && second <= 12 && first != second {
		return ""
	}
	return iso
}
