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

// Spec writes a first spec for a data file, from its column names and types
// alone: no value of the file reaches it. Domains come from documents with code lists,
// where there are any. Where a person must decide, a comment says so, and where the domain
// is missing the spec does not check until that is done.
func Spec(ctx context.Context, path string, codes []string) (string, error) {
	lists, err := readCodes(codes)
	if err != nil {
		return "", err
	}
	d, err := source.Describe(ctx, path)
	if err != nil {
		return "", err
	}
	fields := named(d.Fields)
	b := &strings.Builder{}
	name := draftName(path)
	fmt.Fprintf(b, `# A release of %[1]s, drafted from %[7]s.
# Settle every line marked "decide:", then:  dprelease check FILE, rehearse FILE, plan FILE, run FILE
#
# The domain of a column is public: you say what it may hold, before the data is looked at.
#   categories   {values: [female, male]}            or {codebook: FILE.csv} with columns code,label
#   numbers      {type: integer, range: [0, 110]}    with levels: {ten: {width: 10}} or {band: {edges: [0, 16, 65]}}
#   decimals     {type: decimal, range: [0, 9000], levels: {band: {edges: [0, 1000, 5000]}}}
#   dates        {type: date, range: [2026-01-01, 2026-12-31], levels: {month: {width: month}}}
# A value outside its domain, or a null, stops the release before anything is spent;
# unknown: drop or unknown: {as: CATEGORY}, and the same for null:, let it pass.
version: 1
release: %[2]s
about: {title: "", population: ""}   # decide: what a reader is told
privacy:
  protects: person         # decide: whom the guarantee is for, as reports will call them
  neighbours: add-remove   # decide: add-remove, or replace if the number of units is public
  # account: NAME          # decide: the ledger account that pays; without one this is practice
budget: {epsilon: 1}       # decide: {epsilon: …}, {rho: …} or {epsilon: …, delta: …}
tables:
  rows:
    source: {%[3]s: %[4]s%[5]s}
%[6]s    columns:             # decide: delete the columns that no table needs
`, filepath.Base(path), name, d.Format, quoted(path), draftDialect(d), draftUnit(fields), drawnFrom(d, codes))
	for _, f := range fields {
		b.WriteString(draftColumn(f, lists.of(f.Name)))
	}
	fmt.Fprintf(b, `marginals:
  first: {by: [%s]}   # decide: which tables; the more of them, the less budget for each
`, firstCounted(fields, lists).column)
	return b.String(), nil
}

// field is a column of the file with its name in the spec.
type field struct {
	source.Field
	column string
}

// named gives every column a name that the spec accepts, no two the same.
func named(fields []source.Field) []field {
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

// drawnFrom says what the draft was made of.
func drawnFrom(d source.Description, codes []string) string {
	from := "its column names and types; no value was looked at"
	if d.Format == files.CSV {
		from = "the names in its first line alone (if that line is data, the file lacks a header: do not keep this draft)"
	}
	if len(codes) == 0 {
		return from
	}
	names := make([]string, len(codes))
	for i, path := range codes {
		names[i] = comment(filepath.Base(path))
	}
	return from + ", with the domains that " + strings.Join(names, ", ") + " says"
}

// draftDialect says how a CSV file departs from the usual.
func draftDialect(d source.Description) string {
	if d.Format != files.CSV {
		return ""
	}
	if d.Delimiter != ',' && d.Delimiter != 0 {
		return fmt.Sprintf(", delimiter: %q", string(d.Delimiter))
	}
	return ""
}

// draftName makes a release name of a file name.
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

var looksLikeID = regexp.MustCompile(`(?i)(^|[_. -])(id|uuid|key|nr|number)$`)

// draftUnit proposes the unit: by the first column whose name looks like an id.
func draftUnit(fields []field) string {
	for _, f := range fields {
		if looksLikeID.MatchString(f.Name) {
			return fmt.Sprintf("    unit: {id: %s, max_rows: 1}   # decide: which rows belong to one unit, and how many of them count\n", quoted(f.Name))
		}
	}
	return "    unit: row   # decide: each row is a unit; or {id: COLUMN, max_rows: N} where a unit has several\n"
}

// firstCounted is the first column that is not an id, of those with a code list if there are any.
func firstCounted(fields []field, lists codeLists) field {
	for _, f := range fields {
		if l := lists.of(f.Name); l != nil && len(l.codes) > 0 && !looksLikeID.MatchString(f.Name) {
			return f
		}
	}
	for _, f := range fields {
		if !looksLikeID.MatchString(f.Name) {
			return f
		}
	}
	return fields[0]
}

// draftColumn proposes a column's entry: its domain where a code list says it, else its type where
// the file says one and the domain left to a person.
func draftColumn(f field, list *codeList) string {
	if looksLikeID.MatchString(f.Name) {
		return fmt.Sprintf("      # %s looks like an id: not a column to count by\n", comment(f.Name))
	}
	from := ""
	if f.column != f.Name {
		from = "from: " + sourceName(f.Name) + ", "
	}
	if domain, remark := list.domain(f.Type); domain != "" {
		if remark != "" {
			remark = "   # " + comment(remark)
		}
		return fmt.Sprintf("      %s: {%s%s}%s\n", quoted(f.column), from, domain, remark)
	}
	entry := map[domain.Type]string{
		domain.Integer:   "{%stype: integer, range: []}   # decide: [least, most]",
		domain.Decimal:   "{%stype: decimal, range: []}   # decide: [least, most], and step: or levels:",
		domain.Date:      "{%stype: date, range: []}   # decide: [first, last]",
		domain.Timestamp: "{%stype: timestamp, range: []}   # decide: [first, last], and levels:",
		domain.Boolean:   `{%svalues: ["false", "true"]}`,
	}[f.Type]
	if entry == "" {
		entry = "{%svalues: []}   # decide: the categories, or a range as above"
	}
	return fmt.Sprintf("      %s: "+entry+"\n", quoted(f.column), from)
}

// columnName makes a name that a spec accepts for a column.
func columnName(name string) string {
	clean := strings.Trim(regexp.MustCompile(`[^\p{L}\p{M}\p{N}_]+`).ReplaceAllString(norm.NFC.String(name), "_"), "_")
	switch first, _ := utf8.DecodeRuneInString(clean); {
	case clean == "":
		return "column"
	case first != '_' && !unicode.IsLetter(first):
		return "_" + clean
	}
	return clean
}

// sourceName writes the name of a column as from: takes it.
func sourceName(name string) string {
	if plainColumn.MatchString(name) {
		return quoted(name)
	}
	return strconv.Quote("`" + strings.ReplaceAll(name, "`", "``") + "`")
}

var plainColumn = regexp.MustCompile(`^[\p{L}_][\p{L}\p{M}\p{N}_]*$`)

var plainScalar = regexp.MustCompile(`^[\p{L}_][\p{L}\p{M}\p{N}_/.-]*$`)

// quoted writes a text as YAML reads it back.
func quoted(s string) string {
	switch strings.ToLower(s) {
	case "null", "true", "false", "yes", "no", "on", "off", "y", "n":
		return strconv.Quote(s)
	}
	if plainScalar.MatchString(s) {
		return s
	}
	return strconv.Quote(s)
}

// comment makes a text safe within a comment line.
func comment(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) { // what ends a line in YAML among them
			return ' '
		}
		return r
	}, s)
}
