package describe

import (
	"fmt"
	"strings"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec/language"
)

// This file describes counts that add up: for the signed page, and for the difference of two plans.

// Consistency says what is true of the counts that add up, and where they come from.
func Consistency(l *language.Language, c plan.Consistency) string {
	if len(c.Tables) == 0 {
		return l.Text("No table of %s: the counts of each are its estimates, rounded.", c.Table)
	}
	tables := l.Plural(int64(len(c.Tables)), "table")
	text := l.Text("%[2]s of %[1]s: counts are whole, none is negative, all tables have one total, and what two of "+
		"them share is the same in both.", c.Table, tables)
	if c.UnnestedColumns != nil {
		text = l.Text("%[2]s of %[1]s: counts are whole, none is negative, all tables have one total, and what two "+
			"of them share is the same in both, except at levels that do not nest.", c.Table, tables)
	}
	if c.Way == plan.Tabulated {
		return text + " " + l.Text("They cross each other in ways for which no efficient rounding is known, so the "+
			"counts are taken from the microdata, and so are figures of a model. The unbiased estimates are "+
			"published with them.")
	}
	return text + " " + l.Text("The estimates are moved to the nearest possible values, single columns first, and "+
		"rounded. So the counts have a bias, which the report states. The unbiased estimates are published next to "+
		"them, with their intervals.")
}

// LeftText says which levels do not agree, and which tables of a consistency keep their estimates, and why: one line
// for each reason.
func LeftText(l *language.Language, c plan.Consistency) []string {
	var reasons, lines []string
	for _, levels := range c.UnnestedColumns {
		lines = append(lines, l.Text(
			"Not all levels of one column are nested: %s. Tables that show levels of different series agree in what "+
				"they show other than that column, and in nothing else. This is so even where a level is nested in "+
				"one of another series, because each level is put into the first series in which it is nested, "+
				"coarsest first.", levels))
	}
	paths := map[string][]string{}
	for _, u := range c.LeftOut {
		why := u.Why.In(l)
		if paths[why] == nil {
			reasons = append(reasons, why)
		}
		paths[why] = append(paths[why], u.Table)
	}
	for _, why := range reasons {
		all := paths[why]
		names := strings.Join(all[:min(len(all), firstTables)], ", ")
		if more := len(all) - firstTables; more > 0 {
			names = l.Text("%s and %s", names, l.Plural(int64(more), "other"))
		}
		lines = append(lines, l.Text("Left as the estimates, rounded: %s, as %s.", names, why))
	}
	return lines
}

// explainConsistent writes which counts add up.
func explainConsistent(p *plan.Plan, b *strings.Builder) {
	if p.Consistent == nil {
		return
	}
	fmt.Fprintf(b, "\nCounts that add up\n")
	for _, c := range p.Consistent {
		fmt.Fprintf(b, "  %s\n", Consistency(language.English, c))
		for _, line := range LeftText(language.English, c) {
			fmt.Fprintf(b, "  %s\n", line)
		}
	}
}

// sayConsistent adds a fact for each table on what its published counts are, if the spec asks for counts that add up.
func (b *factBook) sayConsistent(all []plan.Consistency) {
	for _, c := range all {
		says := "moved so that tables add up, and rounded"
		if c.Way == plan.Tabulated {
			says = "the counts of the microdata"
		}
		for _, levels := range c.UnnestedColumns {
			b.say(OnTable, c.Table, "levels whose counts do not agree", levels)
		}
		for _, path := range c.Tables {
			b.say(OnTable, path, "published counts", says)
		}
		for _, u := range c.LeftOut {
			b.say(OnTable, u.Table, "published counts", "the estimates, rounded: "+u.Why.String())
		}
	}
}
