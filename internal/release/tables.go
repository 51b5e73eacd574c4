package release

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/synth"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// rowsPerGroup bounds the rows of one Parquet row group.
const rowsPerGroup = 1 << 20

// column is one column of a published table: its Parquet type, what it means,
// and its value in a row.
type column struct {
	Name      string `json:"name"`
	Label     string `json:"label"`
	Unit      string `json:"unit,omitempty"`
	Statistic string `json:"statistic"`
	kind      reflect.Type
	value     func(row int) parquet.Value
}

// encodeTable is a published table as Parquet, with its meaning and that of its
// release as metadata. Equal input gives equal bytes.
func encodeTable(t synth.Table, planned plan.Table, protects string, release [][2]string) ([]byte, error) {
	columns := columnsOf(t, protects)
	if planned.Sparse != nil {
		liftedColumns(columns, t, planned.Sparse)
	}
	metadata, err := tableMetadata(t, planned, columns)
	if err != nil {
		return nil, err
	}
	return encodeRows(columns, t.Cells, append(metadata, release...))
}

// liftedColumns says of the estimates of a sparse table what they are.
func liftedColumns(columns []column, t synth.Table, s *plan.Sparse) {
	for i, c := range columns {
		if slices.ContainsFunc(t.Statistics, func(s synth.Statistic) bool { return c.Name == s.Name+plan.Unbiased }) {
			columns[i].Label = fmt.Sprintf("noisy count as it is: unbiased over all cells, too large on the mean where it is little above %d; not for sums", s.Above)
		}
	}
}

// encodeRows writes rows of columns as Parquet. Equal input gives equal bytes.
func encodeRows(columns []column, n int, metadata [][2]string) ([]byte, error) {
	var b bytes.Buffer
	options := []parquet.WriterOption{
		schemaOf(columns),
		parquet.Compression(&zstd.Codec{}),
		parquet.CreatedBy("dprelease", "", ""),
		parquet.MaxRowsPerRowGroup(rowsPerGroup),
	}
	for _, kv := range metadata {
		options = append(options, parquet.KeyValueMetadata(kv[0], kv[1]))
	}
	w := parquet.NewGenericWriter[any](&b, options...)
	const block = 4096
	for start := 0; start < n; start += block {
		rows := make([]parquet.Row, 0, block)
		for i := start; i < min(start+block, n); i++ {
			row := make(parquet.Row, len(columns))
			for j, c := range columns {
				row[j] = c.value(i)
			}
			rows = append(rows, row)
		}
		if _, err := w.WriteRows(rows); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// schemaOf declares the columns in their order. A struct type carries them,
// since Parquet groups of the library are sorted by name. Texts are written plainly:
// the runs that the library makes of the indexes of a dictionary differ between
// processors, and compression leaves little of either.
func schemaOf(columns []column) *parquet.Schema {
	fields := make([]reflect.StructField, len(columns))
	for i, c := range columns {
		tag := c.Name
		switch {
		case c.kind.Kind() == reflect.Pointer:
			tag += ",optional,plain"
		case c.kind.Kind() == reflect.String:
			tag += ",plain"
		}
		fields[i] = reflect.StructField{
			Name: "C" + strconv.Itoa(i), Type: c.kind,
			Tag: reflect.StructTag(`parquet:` + strconv.Quote(tag)),
		}
	}
	return parquet.SchemaOf(reflect.New(reflect.StructOf(fields)).Interface())
}

var (
	textKind     = reflect.TypeFor[string]()
	optionalText = reflect.TypeFor[*string]()
	integerKind  = reflect.TypeFor[int64]()
	decimalKind  = reflect.TypeFor[float64]()
)

// columnsOf lists a table's columns: keys, their labels where a code book has
// any, then the figures of each statistic.
func columnsOf(t synth.Table, protects string) []column {
	var columns []column
	for i, k := range t.Keys {
		category := func(row int) spec.Category { return t.Category(row, i) }
		columns = append(columns, keyColumns(k, category, len(columns))...)
	}
	for _, s := range t.Statistics {
		columns = append(columns, statisticColumns(s, protects, len(columns))...)
	}
	return columns
}

// keyColumns are the code of a key, a number where all codes are whole numbers of
// an integer column, and, where there are labels, the label.
func keyColumns(k synth.Key, category func(row int) spec.Category, at int) []column {
	name := k.Attribute.String()
	key := column{Name: name, Label: name, Statistic: "key", kind: textKind}
	key.value = func(row int) parquet.Value {
		return parquet.ValueOf(category(row).Code).Level(0, 0, at)
	}
	if numbers, ok := wholeNumbers(k.Level); ok && k.Type == spec.Integer {
		key.kind = integerKind
		key.value = func(row int) parquet.Value {
			return parquet.ValueOf(numbers[category(row).Code]).Level(0, 0, at)
		}
	}
	if !slices.ContainsFunc(k.Level.Categories, func(c spec.Category) bool { return c.Label != "" }) {
		return []column{key}
	}
	return []column{key, {
		Name: name + plan.LabelSuffix, Label: "label of " + name, Statistic: "label", kind: textKind,
		value: func(row int) parquet.Value {
			return parquet.ValueOf(category(row).Label).Level(0, 0, at+1)
		},
	}}
}

// wholeNumbers reads a level's codes as whole numbers, where all of them are.
func wholeNumbers(l *spec.Level) (map[string]int64, bool) {
	numbers := make(map[string]int64, len(l.Categories))
	for _, c := range l.Categories {
		v, err := strconv.ParseInt(c.Code, 10, 64)
		if err != nil || strconv.FormatInt(v, 10) != c.Code {
			return nil, false
		}
		numbers[c.Code] = v
	}
	return numbers, true
}

// statisticColumns are a statistic's published value, unbiased estimate,
// standard error, interval and flag. What is one measurement is in whole numbers,
// what is put together from several is not.
func statisticColumns(s synth.Statistic, protects string, at int) []column {
	integer := func(j int, get func(int) int64) func(int) parquet.Value {
		return func(row int) parquet.Value { return parquet.ValueOf(get(row)).Level(0, 0, at+j) }
	}
	decimal := func(j int, get func(int) float64) func(int) parquet.Value {
		return func(row int) parquet.Value { return parquet.ValueOf(get(row)).Level(0, 0, at+j) }
	}
	kind, figure := decimalKind, decimal
	if s.Whole {
		kind, figure = integerKind, func(j int, get func(int) float64) func(int) parquet.Value {
			return integer(j, func(row int) int64 { return int64(get(row)) })
		}
	}
	interval := fmt.Sprintf("end of the %g%% interval, privacy noise only", 100*s.Confidence)
	return []column{
		{s.Name + plan.Published, "published count; negative estimates are shown as 0", protects, "count", integerKind, integer(0, s.Published.Value)},
		{s.Name + plan.Unbiased, "unbiased estimate; use this one for sums", protects, "estimate", kind, figure(1, s.Unbiased.Value)},
		{s.Name + plan.StandardError, "standard error of the privacy noise", protects, "standard error", decimalKind, decimal(2, s.Error.Value)},
		{s.Name + plan.Low, "lower " + interval, protects, "interval", kind, figure(3, s.Low.Value)},
		{s.Name + plan.High, "upper " + interval, protects, "interval", kind, figure(4, s.High.Value)},
		{s.Name + plan.Flag, flagsText(s), "", "flag", optionalText, func(row int) parquet.Value {
			if s.Flags[row] == synth.Plain {
				return parquet.NullValue().Level(0, 0, at+5)
			}
			return parquet.ValueOf(string(s.Flags[row])).Level(0, 1, at+5)
		}},
	}
}

// flagsText is what the flag of a statistic says.
func flagsText(s synth.Statistic) string {
	text := "null, or noise_dominates where the interval reaches zero"
	if slices.Contains(s.Flags, synth.Impossible) {
		text += ", or impossible where the spec says that no row can be: an exact zero, not measured"
	}
	return text
}

// releaseMetadata is what every table and all microdata of a release say of it.
func releaseMetadata(p *plan.Plan, status ledger.Status) [][2]string {
	g := p.Guarantee
	return [][2]string{
		{"dprelease.release", p.Name},
		{"dprelease.status", statusText(status)},
		{"dprelease.plan", p.Hash()},
		{"dprelease.spec", p.SpecHash()},
		{"dprelease.guarantee", g.Sentence()},
		{"dprelease.protects", g.Protects},
		{"dprelease.epsilon", g.Epsilon},
		{"dprelease.delta", g.Delta},
		{"dprelease.rho", g.Rho},
	}
}

// tableMetadata is the meaning of a table, for a reader who has only the file.
func tableMetadata(t synth.Table, planned plan.Table, columns []column) ([][2]string, error) {
	described, err := json.Marshal(columns)
	if err != nil {
		return nil, err
	}
	metadata := [][2]string{
		{"dprelease.schema", "dprelease.table/1"},
		{"dprelease.table", t.Path},
		{"dprelease.columns", string(described)},
		{"dprelease.interval", fmt.Sprintf("%g%% privacy noise only; sampling and response error not included", 100*t.Statistics[0].Confidence)},
	}
	if s := planned.Sparse; s != nil {
		metadata = append(metadata, [2]string{"dprelease.sparse", fmt.Sprintf("a row for each of %d declared cells whose noisy count is above %d, and for no other; a cell that is not here has %d rows or fewer at a confidence of %g%%; at most %g cells without a row are expected here; intervals hold over all cells, here or not",
			planned.Cells, s.Above, s.Bound, 100*planned.Statistics[0].Confidence, s.FalseCells)})
	}
	return metadata, nil
}
