package describe

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/template"
)

// This file holds the difference: what changed between two plans, in words.

// Difference is what changed between two plans. Changes is empty only if the two are the same, byte for byte, with
// the same words.
type Difference struct {
	Before Version `json:"before"`
	After  Version `json:"after"`
	Same   bool    `json:"same"`
	// OneTemplate is true if the plans differ only in their parameters: see [template.Hash].
	OneTemplate bool     `json:"one_template"`
	Changes     []Change `json:"changes,omitempty"`
}

// Version names one of the two plans.
type Version struct {
	Release  string `json:"release"`
	PlanHash string `json:"plan_hash"`
	// WordsHash is of the words of the plan; "" for a plan without words.
	WordsHash string `json:"words_hash,omitempty"`
}

// Change is one thing that changed. Before is "" if it is new, After if it is gone.
type Change struct {
	Topic   Topic  `json:"topic"`
	Subject string `json:"subject,omitempty"` // a table, leaf, column, parameter …
	What    string `json:"what,omitempty"`    // of the subject; "" is the subject itself
	Before  string `json:"before,omitempty"`
	After   string `json:"after,omitempty"`
	Note    string `json:"note,omitempty"`
}

// Diff compares two plans.
func Diff(before, after *compiled.Compiled) Difference {
	d := Difference{
		Before: versionOf(before), After: versionOf(after),
		OneTemplate: template.Hash(before.Plan()) == template.Hash(after.Plan()),
	}
	if d.Same = d.Before == d.After; d.Same {
		return d
	}
	d.Changes = append(compareFacts(factsOf(before.Plan()), factsOf(after.Plan())),
		lineChanges(before.Source.Text, after.Source.Text)...)
	if len(d.Changes) > 0 {
		return d
	}
	change := Change{Topic: OnSpec, What: "plan hash", Before: d.Before.PlanHash, After: d.After.PlanHash,
		Note: "what a person reads of them is the same"}
	if d.Before.PlanHash == d.After.PlanHash {
		change.What, change.Before, change.After = "hash of the words", d.Before.WordsHash, d.After.WordsHash
	}
	d.Changes = []Change{change}
	return d
}

// versionOf names a plan with its words.
func versionOf(c *compiled.Compiled) Version {
	v := Version{Release: c.Name, PlanHash: c.Hash()}
	if words := c.Release().Words; words != nil {
		v.WordsHash = words.Hash()
	}
	return v
}

// compareFacts returns the facts that differ, topic by topic. For a subject that is new or gone it returns only the
// first.
func compareFacts(before, after []planFact) []Change {
	was, is := indexFacts(before), indexFacts(after)
	var all []Change
	for _, f := range unionOfFacts(before, after, was) {
		g, known := was[f.key()]
		h, still := is[f.key()]
		subject := [3]string{string(f.topic), f.subject, ""}
		_, wasThere := was[subject]
		_, isThere := is[subject]
		switch {
		case known && still && g.matches(h):
		case f.what != "" && wasThere != isThere:
		default:
			all = append(all, changeOf(f, g, h, known && still))
		}
	}
	return all
}

// indexFacts returns facts by their keys.
func indexFacts(facts []planFact) map[[3]string]planFact {
	all := make(map[[3]string]planFact, len(facts))
	for _, f := range facts {
		all[f.key()] = f
	}
	return all
}

// unionOfFacts returns the facts of before and those of after with new keys, by topic and subject.
func unionOfFacts(before, after []planFact, was map[[3]string]planFact) []planFact {
	all := slices.Clone(before)
	for _, f := range after {
		if _, known := was[f.key()]; !known {
			all = append(all, f)
		}
	}
	order := map[[2]string]int{}
	for i, t := range topics {
		order[[2]string{string(t.topic)}] = i
	}
	for _, f := range all {
		if at := [2]string{string(f.topic), f.subject}; f.subject != "" && order[at] == 0 {
			order[at] = len(order)
		}
	}
	slices.SortStableFunc(all, func(f, g planFact) int {
		return cmp.Or(order[[2]string{string(f.topic)}]-order[[2]string{string(g.topic)}],
			order[[2]string{string(f.topic), f.subject}]-order[[2]string{string(g.topic), g.subject}])
	})
	return all
}

// changeOf describes how one fact became another; a zero fact stands for none.
func changeOf(f, before, after planFact, both bool) Change {
	c := Change{Topic: f.topic, Subject: f.subject, What: f.what, Before: before.value, After: after.value}
	if !both {
		return c
	}
	if c.Before == c.After && before.level == nil {
		c.Before, c.After = before.exact, after.exact
	}
	if before.error > 0 {
		c.Note = RelativeChange(after.error/before.error - 1)
	}
	if before.level != nil {
		c.Note = levelNote(before.level, after.level)
	}
	return c
}

// RelativeChange returns a signed relative change in words.
func RelativeChange(part float64) string {
	sign := "+"
	if part < 0 {
		sign = "−"
	}
	return sign + budget.DecimalNearest(100*math.Abs(part), 3) + "%"
}

// levelNote says how the categories of a level changed.
func levelNote(before, after *domain.Level) string {
	fresh, gone := missingCodes(after, before), missingCodes(before, after)
	var notes []string
	if len(fresh) > 0 {
		notes = append(notes, "new: "+Listed(fresh))
	}
	if len(gone) > 0 {
		notes = append(notes, "gone: "+Listed(gone))
	}
	if len(notes) > 0 {
		return strings.Join(notes, "; ")
	}
	sameCode := func(a, b domain.Category) bool { return a.Code == b.Code }
	switch {
	case !slices.EqualFunc(before.Categories, after.Categories, sameCode):
		return "in another order"
	case !slices.Equal(before.Categories, after.Categories):
		return "with other labels"
	}
	return "with other members"
}

// missingCodes returns the codes of a level that another level lacks.
func missingCodes(of, from *domain.Level) []string {
	there := make(map[string]bool, from.Size())
	for _, c := range from.Categories {
		there[c.Code] = true
	}
	var codes []string
	for _, c := range of.Categories {
		if !there[c.Code] {
			codes = append(codes, c.Code)
		}
	}
	return codes
}

// Listed returns the first names of a list, and how many more there are.
func Listed(names []string) string {
	const shown = 8
	if more := len(names) - shown; more > 0 {
		return strings.Join(names[:shown], ", ") + fmt.Sprintf(" and %s more", budget.Group(int64(more)))
	}
	return strings.Join(names, ", ")
}

// mostLines is the largest number of lines of two specs that are compared line by line.
const mostLines = 2000

// lineChanges returns the removed and the added lines of a text, by a longest common subsequence.
func lineChanges(before, after string) []Change {
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
	if before == after {
		return nil
	}
	if len(a) > mostLines || len(b) > mostLines {
		return []Change{{Topic: OnSpec, What: "text", Before: "SHA-256 " + plan.HashOf([]byte(before)),
			After: "SHA-256 " +
				plan.HashOf([]byte(after))}}
	}
	// common[i][j] is the length of the longest common subsequence of a[i:] and b[j:].
	common := make([][]int32, len(a)+1)
	for i := range common {
		common[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			common[i][j] = max(common[i+1][j], common[i][j+1])
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	var all []Change
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			all = append(all, Change{Topic: OnSpec, What: fmt.Sprintf("line %d", i+1), Before: quoted(a[i])})
			i++
		default:
			all = append(all, Change{Topic: OnSpec, What: fmt.Sprintf("line %d", j+1), After: quoted(b[j])})
			j++
		}
	}
	return all
}

// quoted returns a line of a spec in quotation marks, so that an empty one is visible.
func quoted(line string) string { return fmt.Sprintf("%q", line) }

// shownLines is how many lines of a spec's text Write lists.
const shownLines = 40

// Write prints the difference for a person: a heading per topic, a line per change. Neighbouring subjects with the
// same changes are folded into one.
func (d Difference) Write(w io.Writer) error {
	b := &strings.Builder{}
	if d.Same {
		fmt.Fprintf(b, "Nothing changed: the two plans of %s are the same, byte for byte. Plan hash %s\n",
			d.Before.Release,
			d.Before.PlanHash)
		_, err := io.WriteString(w, b.String())
		return err
	}
	fmt.Fprintf(b, "Plan of %s (hash %s)\n  → of %s (hash %s)\n", d.Before.Release, d.Before.PlanHash[:16],
		d.After.Release, d.After.PlanHash[:16])
	switch {
	case d.Before.PlanHash == d.After.PlanHash:
		b.WriteString("They are one plan with other words, which cost nothing: publish them as a revision, with --words.\n")
	case d.OneTemplate:
		b.WriteString("They differ in nothing but their parameters and what these decide: a standing approval of one " +
			"covers the other.\n")
	}
	for _, t := range topics {
		lines := d.topicLines(t.topic)
		if len(lines) == 0 {
			continue
		}
		fmt.Fprintf(b, "\n%s\n", t.heading)
		if more := len(lines) - shownLines; t.topic == OnSpec && more > 0 {
			lines = append(lines[:shownLines], fmt.Sprintf("… and %s more", budget.Group(int64(more))))
		}
		for _, line := range lines {
			fmt.Fprintf(b, "  %s\n", line)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// topicLines returns the changes of a topic as text, with subjects that changed in the same way folded.
func (d Difference) topicLines(topic Topic) []string {
	type block struct {
		subject string
		texts   []string
	}
	var blocks []block
	for _, c := range d.Changes {
		if c.Topic != topic {
			continue
		}
		if last := len(blocks) - 1; last < 0 || blocks[last].subject != c.Subject {
			blocks = append(blocks, block{subject: c.Subject})
		}
		last := &blocks[len(blocks)-1]
		last.texts = append(last.texts, c.text())
	}
	var lines []string
	for from := 0; from < len(blocks); {
		to := from + 1
		for to < len(blocks) && slices.Equal(blocks[to].texts, blocks[from].texts) {
			to++
		}
		name := blocks[from].subject
		if more := to - from - 1; more > 0 {
			name += fmt.Sprintf(" and %d more alike", more)
		}
		for _, text := range blocks[from].texts {
			if name != "" {
				text = name + ": " + text
			}
			lines = append(lines, text)
		}
		from = to
	}
	return lines
}

// text returns the change without its subject.
func (c Change) text() string {
	text := ""
	if c.What != "" && c.Topic != OnWarning {
		text = c.What + ": "
	}
	switch {
	case c.Before == "":
		text += "new: " + c.After
	case c.After == "":
		text += "gone: " + c.Before
	case c.Before == c.After:
		text += c.Before
	default:
		text += c.Before + " → " + c.After
	}
	if c.Note != "" {
		text += " (" + c.Note + ")"
	}
	return text
}
