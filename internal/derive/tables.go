package derive

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/spec/language"
	"github.com/dprelease/dprelease/synth"
	"github.com/parquet-go/parquet-go"
)

// column is one column of a published table: its Parquet type, its meaning and its values.
type column struct {
	Name      string `json:"name"`
	Label     string `json:"label"`
	Unit      string `json:"unit,omitempty"`
	Statistic string `json:"statistic"`
	kind      reflect.Type
	values    func(row int, into []parquet.Value) // starting with a row
}

// Table returns a published table as Parquet, with its meaning and that of its release as metadata. Equal input gives
// equal bytes.
func Table(ctx context.Context, p *compiled.Compiled, t synth.Table, planned plan.Table, release [][2]string) ([]byte,
	error) {
	columns := columnsOf(p, t, planned)
	selecting[planned.Selects()].label(columns, t, planned)
	metadata, err := tableMetadata(p, t, planned, columns)
	if err != nil {
		return nil, err
	}
	return encodeRows(ctx, columns, t.Cells, append(metadata, release...))
}

var (
	textKind     = reflect.TypeFor[string]()
	optionalText = reflect.TypeFor[*string]()
	integerKind  = reflect.TypeFor[int64]()
	decimalKind  = reflect.TypeFor[float64]()
	// Null where nothing is published.
	optionalInteger = reflect.TypeFor[*int64]()
	optionalDecimal = reflect.TypeFor[*float64]()
)

// columnsOf returns a table's columns: keys, their labels if a code book has any, then the columns of the count, and
// those of every other figure.
func columnsOf(p *compiled.Compiled, t synth.Table, planned plan.Table) []column {
	rows := p.Release().Words.OfTable(planned.From)
	var columns []column
	for i, k := range t.Keys {
		columns = append(columns, keyColumns(rows, k, t.CategoriesOf(i))...)
	}
	for _, s := range t.Statistics {
		columns = append(columns, statisticColumns(p.Plan(), s, planned)...)
	}
	for _, n := range t.Numbers {
		columns = append(columns, numberColumns(p, n, planned, t.Statistics[0].Confidence)...)
	}
	return columns
}

// keyColumns returns the column of a key's codes, labelled with its title, and a column of labels if there are any. The
// codes are numbers if all codes of an integer column are whole numbers. category gives the index of a row's category.
func keyColumns(rows spec.TableWords, k synth.Key, category func(row int) int) []column {
	name := k.Attribute.String()
	key := column{Name: name, Label: rows.Title(name), Statistic: "key", kind: textKind}
	codes, labels := make([]parquet.Value, k.Level.Size()), make([]parquet.Value, k.Level.Size())
	labelled := false
	for i, c := range k.Level.Categories {
		codes[i], labels[i] = parquet.ValueOf(c.Code), parquet.ValueOf(c.Label)
		labelled = labelled || c.Label != ""
	}
	if numbers, ok := wholeNumbers(k.Level); ok && k.Type == domain.Integer {
		key.kind = integerKind
		for i, v := range numbers {
			codes[i] = parquet.ValueOf(v)
		}
	}
	of := func(values []parquet.Value) func(int, []parquet.Value) {
		return func(row int, into []parquet.Value) {
			for i := range into {
				into[i] = values[category(row+i)]
			}
		}
	}
	key.values = of(codes)
	if !labelled {
		return []column{key}
	}
	return []column{key, {Name: name + statistic.LabelSuffix, Label: "label of " + key.Label, Statistic: "label",
		kind:   textKind,
		values: of(labels)}}
}

// wholeNumbers reads a level's codes as whole numbers, if all of them are.
func wholeNumbers(l *domain.Level) ([]int64, bool) {
	numbers := make([]int64, len(l.Categories))
	for i, c := range l.Categories {
		v, err := strconv.ParseInt(c.Code, 10, 64)
		if err != nil || strconv.FormatInt(v, 10) != c.Code {
			return nil, false
		}
		numbers[i] = v
	}
	return numbers, true
}

// statisticColumns returns a count's published value, unbiased estimate, standard error, interval and flag. A count
// that is one measurement is in whole numbers; one that is reconstructed, or adds up weights that are not whole, is
// not.
func statisticColumns(p *plan.Plan, s synth.Statistic, planned plan.Table) []column {
	kind, figure := decimalKind, decimalValues
	if s.Whole {
		kind, figure = integerKind, wholeValues
	}
	unit := describe.Counted(language.English, planned, p.Guarantee.Protects)
	published := "published count of " + unit + roundedText(planned)
	switch {
	case s.Tabulated:
		published += "; counted from the microdata, like the tables that it adds up with: a figure of a model"
	case s.Fitted:
		published += "; rounded and fitted to add up with the other tables"
	default:
		published += "; negative estimates are shown as 0"
	}
	interval, of := errorsOf(p, planned, s.Confidence)
	return []column{
		{s.Name + statistic.Published, published, unit, "count", integerKind, integerValues(s.Published)},
		{s.Name + statistic.Unbiased, "unbiased estimate; use this one for sums", unit, "estimate", kind,
			figure(s.Unbiased)},
		{s.Name + statistic.StandardError, "standard error of " + of, unit, "standard error", decimalKind,
			decimalValues(s.Error)},
		{s.Name + statistic.Low, "lower " + interval, unit, "interval", kind, figure(s.Low)},
		{s.Name + statistic.High, "upper " + interval, unit, "interval", kind, figure(s.High)},
		{s.Name + statistic.Flag, flagsText(s), "", "flag", optionalText, flagValues(s.Flags)},
	}
}

// valuesBy returns the values of a column, given the value in each row.
func valuesBy(value func(row int) parquet.Value) func(int, []parquet.Value) {
	return func(row int, into []parquet.Value) {
		for i := range into {
			into[i] = value(row + i)
		}
	}
}

func integerValues(of *array.Int64) func(int, []parquet.Value) {
	return valuesBy(func(row int) parquet.Value { return parquet.Int64Value(of.Value(row)) })
}

func decimalValues(of *array.Float64) func(int, []parquet.Value) {
	return valuesBy(func(row int) parquet.Value { return parquet.DoubleValue(of.Value(row)) })
}

func wholeValues(of *array.Float64) func(int, []parquet.Value) {
	return valuesBy(func(row int) parquet.Value { return parquet.Int64Value(int64(of.Value(row))) })
}

// flagValues returns texts, null for no flag.
func flagValues(of []synth.Flag) func(int, []parquet.Value) {
	texts := map[synth.Flag]parquet.Value{synth.Plain: parquet.NullValue()}
	for _, f := range []synth.Flag{synth.NoiseDominates, synth.Impossible, synth.Public, synth.Fitted, synth.Unbounded,
		synth.Withheld} {
		texts[f] = parquet.ValueOf(string(f)).Level(0, 1, 0)
	}
	return func(row int, into []parquet.Value) {
		flag, text := synth.Plain, texts[synth.Plain]
		for i := range into {
			if f := of[row+i]; f != flag {
				flag, text = f, texts[f]
			}
			into[i] = text
		}
	}
}

// flagsText describes the flags of a statistic.
func flagsText(s synth.Statistic) string {
	text := "null, or noise_dominates where the interval reaches zero"
	if slices.Contains(s.Flags, synth.Impossible) {
		text += ", or impossible where the spec says that no row can be: an exact zero, not measured"
	}
	if slices.Contains(s.Flags, synth.Public) {
		text += ", or invariant where the count is a figure that was public before, or a sum of such figures: " +
			"without noise"
	}
	if s.Fitted {
		text += ", or fitted where the published count is not the estimate, rounded, but was moved so that tables add up"
	}
	return text
}

// Metadata returns what every table and all microdata of a release say about the release.
func Metadata(p *compiled.Compiled, status ledger.Status) [][2]string {
	g := p.Guarantee
	return [][2]string{
		{"dprelease.release", p.Name},
		{"dprelease.status", published.StatusText(status)},
		{"dprelease.plan", p.Hash()},
		{"dprelease.spec", p.SpecHash()},
		{"dprelease.guarantee", describe.Guarantee(language.English, p.Plan())},
		{"dprelease.protects", g.Protects},
		{"dprelease.epsilon", g.Epsilon},
		{"dprelease.delta", g.Delta},
		{"dprelease.rho", g.Rho},
	}
}

// tableMetadata returns the meaning of a table, for a reader who has only the file.
func tableMetadata(p *compiled.Compiled, t synth.Table, planned plan.Table, columns []column) ([][2]string, error) {
	described, err := json.Marshal(columns)
	if err != nil {
		return nil, err
	}
	metadata := [][2]string{
		{"dprelease.schema", "dprelease.table/1"},
		{"dprelease.table", t.Path},
		{"dprelease.columns", string(described)},
		{"dprelease.interval", fmt.Sprintf("%g%% %s", 100*t.Statistics[0].Confidence,
			published.TableCoverage(p.Plan(), planned))},
	}
	if title := describe.TableTitle(p.Release(), planned); title != "" {
		metadata = append(metadata, [2]string{"dprelease.title", title})
	}
	return append(metadata, selecting[planned.Selects()].metadata(planned)...), nil
}
