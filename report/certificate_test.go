package report_test

// This file compares each statement of the certificate with the release.

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/maker"
	"github.com/dprelease/dprelease/report/page"
	"github.com/dprelease/dprelease/spec/language"
)

// answer returns the release's answer to a hazard.
func answer(t *testing.T, r *report.Report, hazard string) report.Hazard {
	t.Helper()
	for _, h := range r.Certificate.Hazards {
		if h.Hazard == hazard {
			return h
		}
	}
	t.Fatalf("the hazard %q is not there", hazard)
	return report.Hazard{}
}

func TestHazardsAreAnsweredForTheReleaseAtHand(t *testing.T) {
	withReceipt := func(changes ...string) maker.Input {
		in := input(report.Official, nil)
		in.Receipt = json.RawMessage(strings.NewReplacer(changes...).Replace(string(in.Receipt)))
		return in
	}
	for _, c := range []struct {
		name   string
		in     maker.Input
		hazard string
		by     report.Answerer
		says   string
	}{
		{"small ε", input(report.Official, nil), "An ε too large to protect", report.AnsweredByPlan, "ε = 2"},
		{"large ε", specInput(report.Official, changed("{epsilon: 2,", "{epsilon: 11,")), "An ε too large to protect",
			report.LeftToApprovers, "ε = 11 is above 10"},
		{"unit by id", input(report.Official, nil), "A unit that is less than a person", report.AnsweredByPlan,
			"same person_id"},
		{"unit by row", specInput(report.Official, changed("unit: {id: person_id, max_rows: 1}", "unit: row")),
			"A unit that is less than a person", report.LeftToApprovers, "each further row"},
		{"many rows", specInput(report.Official, changed("max_rows: 1}", "max_rows: 5}")), "One unit in many rows",
			report.AnsweredByPlan, "At most 5 rows"},
		{"pure", input(report.Official, nil), "A relaxed definition", report.AnsweredByPlan, "pure"},
		{"small δ", specInput(report.Official, changed("{epsilon: 2,", "{epsilon: 2, delta: 1e-9,")),
			"A relaxed definition",
			report.AnsweredByPlan, "δ = 1e-9"},
		{"large δ", specInput(report.Official, changed("{epsilon: 2,", "{epsilon: 2, delta: 1e-4,")),
			"A relaxed definition",
			report.LeftToApprovers, "δ = 0.0001"},
		{"zcdp", specInput(report.Official, changed("{epsilon: 2,", "{rho: 1/8,")), "A relaxed definition",
			report.AnsweredByPlan,
			"ρ is not an ε"},
		{"no comparison", input(report.Official, nil), "A mixture with exact figures", report.AnsweredByPlan,
			"No exact figure"},
		{"comparisons", withReceipt(`"comparisons": 0`, `"comparisons": 3`), "A mixture with exact figures",
			report.LeftToApprovers,
			"3 times"},
		{"replace", specInput(report.Official, changed("add-remove", "replace")), "A mixture with exact figures",
			report.AnsweredByPlan,
			"is treated as public"},
		{"no witness", input(report.Official, nil), "Losses that are not added up", report.LeftToApprovers,
			"can go unnoticed"},
		{"witness", withReceipt(`"witnessed": false`, `"witnessed": true`), "Losses that are not added up",
			report.AnsweredByPlan,
			"noticed by its witness"},
		{"practice", input(report.Practice, nil), "Losses that are not added up", report.LeftToApprovers,
			"practice account"},
		{"clear cells", specInput(report.Official, oneTable("{epsilon: 1}")), "Small groups that fare worst",
			report.AnsweredByPlan,
			"largest relative error"},
		{"noisy cells", noisyInput([]int64{0, -3, 0, -1, 0, 0}), "Small groups that fare worst", report.LeftToApprovers,
			"In 1 table"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := answer(t, reportOf(t, c.in), c.hazard)
			if h.AnsweredBy != c.by || !strings.Contains(h.Answer, c.says) {
				t.Errorf("%+v, want %s and %q", h, c.by, c.says)
			}
		})
	}
}

func TestCertificateOfTheAccount(t *testing.T) {
	in := input(report.Official, nil)
	for _, c := range []struct{ receipt, page string }{
		{`"comparisons": 1`, "compared with the truth once"},
		{`"comparisons": 0, "also": ["a-register", "b-register"]`,
			"charged as well to the accounts of the other data that were read: a-register, b-register."},
		{`"comparisons": 0, "corrects": "labour-2025q4"`, "corrects release labour-2025q4"},
		{`"comparisons": 0, "witnessed": true`, "so a rollback of the ledger is noticed"},
	} {
		one := in
		one.Receipt = json.RawMessage(strings.Replace(strings.Replace(string(in.Receipt), ` "witnessed": false,`, "",
			1),
			`"comparisons": 0`, c.receipt, 1))
		if page := pageOf(t, reportOf(t, one)); !strings.Contains(page, c.page) {
			t.Errorf("with %s the page does not say %q", c.receipt, c.page)
		}
	}
}

// TestLossOfAnAttribute checks figures that can be added up by hand: under ε = 2, split 3/5 and 2/5, the noise of the
// headline table has t = 1707/2048 and that of sex by status t = 5/4. Another sex moves one row from one cell to
// another, which costs 2/t in each of the two. All four tables are reconstructed from both, so being counted or not
// costs 1/t in each for any of them.
func TestLossOfAnAttribute(t *testing.T) {
	loss := reportOf(t, input(report.Official, nil)).Certificate.Loss
	if len(loss.Attributes) != 2 || len(loss.Tables) != 4 {
		t.Fatalf("%+v", loss)
	}
	sex := loss.Attributes[0]
	// 2·2048/1707 + 2·4/5 = (20480 + 13656)/8535.
	if sex.Of != "sex" || sex.Tables != 3 || sex.Epsilon != "34136/8535" {
		t.Errorf("%+v", sex)
	}
	for i, path := range []string{"status", "pairs/sex", "pairs/status", "pairs/sex_x_status"} {
		// 2048/1707 + 4/5 = (10240 + 6828)/8535.
		if one := loss.Tables[i]; one.Of != path || one.Epsilon != "17068/8535" {
			t.Errorf("%+v", one)
		}
	}
}

func TestMechanismsAreListedOnce(t *testing.T) {
	all := reportOf(t, input(report.Official, nil)).Certificate.Mechanisms
	if len(all) != 2 || all[0].Mechanism.Parameter != "1707/2048" || all[1].Mechanism.Parameter != "5/4" ||
		len(all[0].Measurements) != 1 || len(all[1].Measurements) != 1 {
		t.Errorf("%+v", all)
	}
	all = reportOf(t, partsInput(2)).Certificate.Mechanisms
	if len(all) != 1 || strings.Join(all[0].Measurements, " ") != "part0 part1" ||
		all[0].Uses(language.English) != "part0 and 1 more" {
		t.Errorf("%+v", all)
	}
}

func TestApprovalsAndModulesAreOnThePage(t *testing.T) {
	r := reportOf(t, input(report.Official, nil))
	for _, text := range []string{pageOf(t, r), string(page.Markdown(r))} {
		for _, want := range []string{"methodologist", "It may be released every quarter.",
			"standing, until 2026-12-31",
			"3333 4444", "sbom.cdx.json"} {
			if !strings.Contains(text, want) {
				t.Errorf("the page does not say %q", want)
			}
		}
	}
	if !strings.Contains(string(page.Readme(r)), "approvals.json") {
		t.Error("the readme does not list the approvals")
	}
	if in := specInput(report.Official, specText); strings.Contains(string(page.Readme(reportOf(t, in))),
		"approvals.json") {
		t.Error("the readme lists approvals that are not there")
	}
}

// A debit without approvals does not show whether its account requires any, so the pages do not say it either.
func TestNoApprovalsSayNothingOfTheAccount(t *testing.T) {
	r := reportOf(t, specInput(report.Official, specText))
	for _, text := range []string{pageOf(t, r), string(page.Markdown(r))} {
		if !strings.Contains(text, "none in the ledger") || strings.Contains(text, "asked for by the account") {
			t.Errorf("the page does not say that no approvals stand in the entry: %s", text)
		}
	}
	for status, want := range map[report.Status]string{
		report.Practice:  "a practice account asks for none",
		report.Rehearsal: "a rehearsal uses made-up data and asks for none"} {
		if text := string(page.Markdown(reportOf(t, specInput(status, specText)))); !strings.Contains(text,
			"- Approvals: none") || !strings.Contains(text, want) {
			t.Errorf("%s: the page does not say %q", status, want)
		}
	}
}

// The cap and the remaining budget are stated as unknown, because no receipt contains them, and a practice account is
// named as such.
func TestThePayerIsNamedWithoutInvention(t *testing.T) {
	for status, want := range map[report.Status]struct{ said, not string }{
		report.Official: {"- Cost: ε = 2 of privacy budget (not money)\n" +
			"- Paid by: account lfs-panel: debit 7, 2026-03-01. The office sees what is left of it with `dprelease " +
			"ledger show lfs-panel --ledger FILE`.",
			"practice"},
		report.Practice: {"- Cost: ε = 2 of privacy budget (not money)\n" +
			"- Paid by: practice account lfs-panel: debit 7, 2026-03-01. It opened with a budget for three releases " +
			"like its first.",
			"ledger show"},
		report.Rehearsal: {"- Cost: nothing: a rehearsal reads no data and keeps no account. A release would cost ε " +
			"= 2 of privacy budget (not money).\n",
			"debit 7, 2026-03-01"},
	} {
		text := partOf("\n"+string(page.Markdown(reportOf(t, specInput(status, specText)))), "Cost")
		if !strings.Contains(text, want.said) || strings.Contains(text, want.not) {
			t.Errorf("%s: want %q and no %q in\n%s", status, want.said, want.not, text)
		}
	}
	first := specInput(report.Practice, specText)
	first.Receipt = json.RawMessage(strings.Replace(string(first.Receipt), `"number": 7`, `"number": 1`, 1))
	want := "practice account lfs-panel: debit 1, 2026-03-01. It can pay for two more releases like this one, if no " +
		"other was tried on it before."
	if text := string(page.Markdown(reportOf(t, first))); !strings.Contains(text, want) {
		t.Errorf("the first debit of a practice account does not say what is left: %q", want)
	}
}

// The row of the whole release names what differs: one unit in the data or not or, for data with a public number of
// units, all values of one unit. The change of a whole record is described in words.
func TestTheRowOfTheWholeReleaseIsNamed(t *testing.T) {
	for neighbours, want := range map[string][]string{
		"add-remove": {"| one person in the data or not, with all attributes (the whole release) |",
			"An attribute can lose more than the whole release, because a changed value is a larger step",
			"If the whole record of a person changes, the pure ε is at most 4, which is twice that of the last row."},
		"replace": {"| one person with all attributes, replaced by any other (the whole release) |",
			"The last row is for the whole person. The column"},
	} {
		text := string(page.Markdown(reportOf(t,
			specInput(report.Official, changed("neighbours: add-remove", "neighbours: "+neighbours)))))
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s: the page does not say %q", neighbours, w)
			}
		}
	}
}

// Only attributes that can lose more than the whole release are said to: by a change that counts as two steps, and in a
// secret sample because an attribute gains nothing from it.
func TestLargerLossesOfAttributesAreExplained(t *testing.T) {
	const steps, sampled = "An attribute can", "The losses of attributes are stated for a person who is in the sample"
	for name, c := range map[string]struct {
		spec           string
		steps, sampled bool
	}{
		"add-remove": {specText, true, false},
		"replace":    {changed("neighbours: add-remove", "neighbours: replace"), false, false},
		"sample": {strings.Replace(oneTable("{epsilon: 1}"), "source: {parquet: lfs.parquet},",
			"source: {parquet: lfs.parquet}, sample: {poisson: 10%},", 1), true, true},
	} {
		r := reportOf(t, specInput(report.Official, c.spec))
		text := string(page.Markdown(r))
		if got := strings.Contains(text, steps); got != c.steps {
			t.Errorf("%s: a larger loss is explained: %v", name, got)
		}
		if got := strings.Contains(text, sampled); got != c.sampled {
			t.Errorf("%s: the sample is given as a reason: %v", name, got)
		}
		larger := slices.ContainsFunc(r.Certificate.Loss.Attributes, func(a report.LossOf) bool {
			exact := func(l report.LossOf) *big.Rat {
				v, _ := new(big.Rat).SetString(l.Epsilon)
				return v
			}
			return exact(a).Cmp(exact(r.Certificate.Loss.Whole)) > 0
		})
		if larger && !c.steps {
			t.Errorf("%s: an attribute has a larger loss, and nothing explains it", name)
		}
	}
}
