package spec

import (
	"strings"
	"testing"
)

// TestQuotesOfYAMLChangeNothing reads the same text in from: plain, in single and in double quotes.
func TestQuotesOfYAMLChangeNothing(t *testing.T) {
	for _, c := range []struct{ from, column, expression, lookup string }{
		{from: "place", column: "place"},
		{from: "hours-per-week", column: "hours-per-week"},
		{from: "`income>50K`", column: "income>50K"},
		{from: "`Age (years)` ", column: "Age (years)"},
		{from: "`register.size`", column: "register.size"},
		{from: "`a``b`", column: "a`b"},
		{from: "register.size", lookup: "size"},
		{from: "years(admitted - born) >= 18", expression: "years(admitted - born) >= 18"},
		{from: "Age >= 18", expression: "Age >= 18"},
		{from: "= Age >= 18", expression: " Age >= 18"},
		{from: "text(`a b`) == text(`c`)", expression: "text(`a b`) == text(`c`)"},
	} {
		for _, written := range []string{c.from, "'" + c.from + "'", `"` + c.from + `"`} {
			if strings.HasPrefix(written, "`") {
				continue // a plain YAML scalar cannot begin with a backtick
			}
			text := strings.Replace(joined, "size:   {from: register.size, values: [micro, small]", "size:   {from: "+
				written+
				", values: [micro, small]", 1)
			text = strings.Replace(text, "range: {by: size, micro: [0, 9], small: [10, 49]}", "range: [0, 49]", 1)
			release, err := Parse(Source{Name: "release.yaml", Text: text,
				Files: map[string]string{"register.csv": register,
					"areas.csv": areas}})
			if err != nil {
				t.Errorf("%s: %v", written, err)
				continue
			}
			column := release.Tables[0].Column("size")
			expression, lookup := "", ""
			if column.Expression != nil {
				expression = column.Expression.Text()
			}
			if column.Lookup != nil {
				lookup = column.Lookup.Column
			}
			if column.From != c.column || expression != c.expression || lookup != c.lookup {
				t.Errorf("%s: column %q, expression %q, looked up %q", written, column.From, expression, lookup)
			}
		}
	}
}
