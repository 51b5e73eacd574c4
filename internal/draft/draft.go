package draft

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/spec/files"
	"golang.org/x/text/unicode/norm"
)

// Spec writes a first spec for a data file, from its column names and types only: no value of the file reaches it.
// Domains come from documents with code lists, if there are any. A comment marks what a person must decide. If a
// domain is missing the spec is not valid until that is done.
func Spec(ctx context.Context, path string, codes []string) (string, error) {
	lists, err := readCodes(codes)
	if err != nil {
		return "", err
	}
	d, err := source.Describe(ctx, path)
	if err != nil {
		return "", err
	}
	fields := specFields(d.Fields)
	b := &strings.Builder{}
	name := draftName(path)
	fmt.Fprintf(b, `# A release of %[1]s, drafted from %[7]s.
# Decide every line marked "decide:", then:  dprelease check FILE, rehearse FILE, plan FILE, run FILE
#
# The domain of a column is public: you say what it may hold, before the data is looked at.
#   categories   {values: [female, male]}            or {codebook: FILE.csv} with columns code,label
#   numbers      {type: integer, range: [0, 110]}    with levels: {ten: {width: 10}} or {band: {edges: [0, 16, 65]}}
#   decimals     {type: decimal, range: [0, 9000], levels: {band: {edges: [0, 1000, 5000]}}}
#   dates        {type: date, range: [2026-01-01, 2026-12-31], levels: {month: {width: month}}}
#   gaps         {values: [female, male, none], null: {as: none}}   counts missing values as a category of their own
# A value outside its domain, or a missing one, stops the release before anything is spent; unknown: drop and
# null: drop leave the row out of every table, and unknown: {as: CATEGORY} counts it.
# Write a value or a name with a comma, a colon or a # in quotes: values: ["Washington, D.C.", Boston]
version: 1
release: %[2]s
about: {title: "", population: "", contact: ""}   # decide: what a reader is told
privacy:
  protects: person         # decide: whom the guarantee is for, as reports will call them
  neighbours: add-remove   # decide: add-remove, or replace if the number of units is public
  account: %[2]s   # decide: the ledger account that pays; without --ledger a run is practice
budget: {rho: 1/50}        # decide: {rho: …}, {epsilon: …} or {epsilon: …, delta: …}, as the account has it
tables:
  %[8]s:
    source: {%[3]s: %[4]s%[5]s}
%[6]s    # expect: {rows: [LEAST, MOST]}   # decide: how many rows a complete file has, wide and round: it is public
    columns:             # decide: delete the columns that no table needs
`, filepath.Base(path), name, d.Format, quoteYAML(path), draftDialect(d), draftUnit(fields), originText(d, codes),
		quoteYAML(draftTable(path)))
	for _, f := range fields {
		b.WriteString(draftColumn(f, lists.forColumn(f.Name)))
	}
	fmt.Fprintf(b, `marginals:
  first: {by: [%s]}   # decide: which tables; the more of them, the less budget for each
  # means: {by: [CATEGORIES], stats: [count, {mean: NUMBERS}]}   # a mean; docs/howto/gaps.md if values are missing
`, firstTableColumn(fields, lists))
	return b.String(), nil
}

// field is a column of the file with its name in the spec.
type field struct {
	source.Field
	column string
}

// specFields gives every column a unique name that the spec accepts.
func specFields(fields []source.Field) []field {
	out := make([]field, len(fields))
	used := map[string]bool{}
	for i, f := range fields {
		name := columnName(f.Name)
		for n := 2; used[name]; n++ {
			name = fmt.Sprintf("%s_%d", columnName(f.Name), n)
		}
		used[name] = true
		out[i] = field{f, name}
	}
	return out
}

// originText returns what the draft was made from.
func originText(d source.Description, codes []string) string {
	from := "its column names and types; no value was looked at"
	if d.Format == files.CSV {
		from = "the names in its first line alone (if that line is data, the file lacks a header: do not keep this draft)"
	}
	if len(codes) == 0 {
		return from
	}
	names := make([]string, len(codes))
	for i, path := range codes {
		names[i] = commentText(filepath.Base(path))
	}
	return from + ", with the domains that " + strings.Join(names, ", ") + " says"
}

// draftDialect returns the dialect of a CSV file if it is not the usual one.
func draftDialect(d source.Description) string {
	if d.Format != files.CSV {
		return ""
	}
	if d.Delimiter != ',' && d.Delimiter != 0 {
		return fmt.Sprintf(", delimiter: %q", string(d.Delimiter))
	}
	return ""
}

// draftName makes the name of a release from a file name.
func draftName(path string) string {
	base := strings.ToLower(filepath.Base(path))
	if i := strings.IndexByte(base, '.'); i > 0 {
		base = base[:i]
	}
	name := strings.Trim(regexp.MustCompile(`[^a-z0-9._-]+`).ReplaceAllString(base, "-"), "-._")
	if name == "" {
		return "release"
	}
	return name
}

// draftTable names the table after the file, and rows if that is no name.
func draftTable(path string) string {
	base, _, _ := strings.Cut(filepath.Base(path), ".")
	if name := columnName(base); base != "" && !strings.HasPrefix(name, "_") && name != unnamed {
		return name
	}
	return "rows"
}

// draftUnit proposes the privacy unit: the first column with the name of an id. If there is none, the unit is left to a
// person, as the file may have an id of another name.
func draftUnit(fields []field) string {
	var likely []string
	for _, f := range fields {
		switch identifies(f.Name) {
		case surelyID:
			return fmt.Sprintf("    unit: {id: %s, max_rows: 1}   # decide: which rows belong to one unit, and how "+
				"many of them count; the column is named as in the file\n", quoteYAML(f.Name))
		case perhapsID:
			likely = append(likely, commentText(f.Name))
		}
	}
	remark := ""
	if likely != nil {
		remark = "; a name that may be an id: " + strings.Join(likely, ", ")
	}
	return "    unit: []   # decide: {id: COLUMN, max_rows: N}, or row if each row is a unit of its own" + remark + "\n"
}

// firstTableColumn returns the first column that is not an id, among those with a code list if there are any; "" if all
// are ids.
func firstTableColumn(fields []field, lists codeLists) string {
	for _, f := range fields {
		if l := lists.forColumn(f.Name); l != nil && len(l.codes) > 0 && identifies(f.Name) == notID {
			return quoteYAML(f.column)
		}
	}
	for _, f := range fields {
		if identifies(f.Name) == notID {
			return quoteYAML(f.column)
		}
	}
	return ""
}

// draftColumn proposes a column's entry: its domain if a code list has it, else its type if the file states one, with
// the domain left to a person.
func draftColumn(f field, list *codeList) string {
	switch identifies(f.Name) {
	case surelyID:
		return fmt.Sprintf("      # %s looks like an id: not a column to count by\n", commentText(f.Name))
	case perhapsID:
		return "      # decide: the next column may be an id, and then no column to count by: delete it if so\n" +
			draftedColumn(f, list)
	}
	return draftedColumn(f, list)
}

// draftedColumn proposes the entry of a column that is no id.
func draftedColumn(f field, list *codeList) string {
	from := ""
	if f.column != f.Name {
		from = "from: " + sourceName(f.Name) + ", "
	}
	if domain, remark := list.draftDomain(f.Type); domain != "" {
		if remark != "" {
			remark = "   # " + commentText(remark)
		}
		return fmt.Sprintf("      %s: {%s%s}%s\n", quoteYAML(f.column), from, domain, remark)
	}
	entry := map[domain.Type]string{
		domain.Integer:   "{%stype: integer, range: []}   # decide: [least, most]",
		domain.Decimal:   "{%stype: decimal, range: []}   # decide: [least, most], and step: or levels:",
		domain.Date:      "{%stype: date, range: []}   # decide: [first, last]",
		domain.Timestamp: "{%stype: timestamp, range: []}   # decide: [first, last], and levels:",
		domain.Boolean:   `{%svalues: ["false", "true"]}`,
	}[f.Type]
	switch {
	case entry != "":
	case suggestsDate(f.Name):
		entry = "{%stype: date, range: []}   # decide: [first, last], and levels:; or values: [] for codes"
	case suggestsNumber(f.Name):
		entry = "{%stype: integer, range: []}   # decide: [least, most], and levels:; or values: [] for codes"
	default:
		entry = "{%svalues: []}   # decide: the categories, or a range as above"
	}
	return fmt.Sprintf("      %s: "+entry+"\n", quoteYAML(f.column), from)
}

// unnamed is the name of a column whose own has no letter and no digit.
const unnamed = "column"

// columnName makes a name that a spec accepts from the name of a column.
func columnName(name string) string {
	clean := strings.Trim(regexp.MustCompile(`[^\p{L}\p{M}\p{N}_]+`).ReplaceAllString(norm.NFC.String(name), "_"), "_")
	switch first, _ := utf8.DecodeRuneInString(clean); {
	case clean == "":
		return unnamed
	case first != '_' && !unicode.IsLetter(first):
		return "_" + clean
	}
	return clean
}

// sourceName returns the name of a column in the syntax of from:.
func sourceName(name string) string {
	if plainColumn.MatchString(name) {
		return quoteYAML(name)
	}
	return strconv.Quote("`" + strings.ReplaceAll(name, "`", "``") + "`")
}

var plainColumn = regexp.MustCompile(`^[\p{L}_][\p{L}\p{M}\p{N}_]*$`)

var plainScalar = regexp.MustCompile(`^[\p{L}_][\p{L}\p{M}\p{N}_/.-]*$`)

// quoteYAML returns a text as YAML reads it back.
func quoteYAML(s string) string {
	switch strings.ToLower(s) {
	case "null", "true", "false", "yes", "no", "on", "off", "y", "n":
		return strconv.Quote(s)
	}
	if plainScalar.MatchString(s) {
		return s
	}
	return strconv.Quote(s)
}

// commentText makes a text safe within a comment line.
func commentText(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) { // among them the line ends of YAML
			return ' '
		}
		return r
	}, s)
}
