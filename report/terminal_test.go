package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/maker"
	"github.com/dprelease/dprelease/report/page"
)

// The terminal page names every table with its margin, the guarantee and what the figures must not be used for, and
// fits the width.
func TestTerminal(t *testing.T) {
	r, err := maker.New(input(report.Practice, nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, columns := range []int{40, 80, 200} {
		page := string(page.Terminal(r, screen.Look{Columns: columns}, "labour-2026q1", false))
		for _, line := range strings.Split(page, "\n") {
			if !strings.HasPrefix(line, "  dprelease ") && screen.Width(line) > columns {
				t.Errorf("%d columns: %q takes %d", columns, line, screen.Width(line))
			}
		}
		flat := strings.Join(strings.Fields(page), " ")
		for _, want := range append([]string{"PRACTICE, NOT A RELEASE", "Protects each person (one added or " +
			"removed): ε = 2.",
			"headline", "±", "dprelease show labour-2026q1 status", "dprelease verify labour-2026q1"}, r.Misuse...) {
			if !strings.Contains(flat, want) {
				t.Errorf("%d columns: no %q in\n%s", columns, want, page)
			}
		}
		if strings.Contains(page, "\x1b") {
			t.Errorf("%d columns: styled", columns)
		}
	}
}

// Hostile texts of a spec cannot control a terminal, and coloured text means the same without colour.
func TestTerminalOfHostileTexts(t *testing.T) {
	r, err := maker.New(input(report.Official, nil))
	if err != nil {
		t.Fatal(err)
	}
	r.Title, r.Population = "a\x1b[2J\u202eb", "日本\u009b"
	r.Tables[0].Path = strings.Repeat("表", 40) + "\r"
	plain, colored := page.Terminal(r, screen.Look{Columns: 60}, "f\x07", true),
		page.Terminal(r, screen.Look{Columns: 60, Color: true}, "f\x07", true)
	if strings.ContainsAny(string(plain), "\x1b\r\u202e\u009b\x07") {
		t.Errorf("%q", plain)
	}
	for _, code := range []string{"0", "1", "2", "31", "32", "33", "1;7"} {
		colored = bytes.ReplaceAll(colored, []byte("\x1b["+code+"m"), nil)
	}
	if !bytes.Equal(colored, plain) {
		t.Errorf("in colour it says\n%s\nand without\n%s", colored, plain)
	}
}

// The guarantee is stated with its neighbouring relation.
func TestTerminalSaysTheRelation(t *testing.T) {
	for relation, want := range map[string]string{"add-remove": "With or without one: any result",
		"replace": "Whatever one's values are: any result"} {
		r := reportOf(t, specInput(report.Official, strings.Replace(oneTable("{epsilon: 2}"), "neighbours: add-remove",
			"neighbours: "+relation, 1)))
		if page := string(page.Terminal(r, screen.Look{Columns: 200}, "f", false)); !strings.Contains(page, want) {
			t.Errorf("%s: no %q in\n%s", relation, want, page)
		}
	}
}

// The section on models to which the terminal refers names each with how well it predicts.
func TestTerminalOfModels(t *testing.T) {
	for _, withTable := range []bool{false, true} {
		flat := strings.Join(strings.Fields(string(page.Terminal(reportOf(t, modelsInput(withTable)),
			screen.Look{Columns: 80}, "f/", false))), " ")
		for _, want := range []string{"in the section “Models”", " Models risk: the probability that readmitted is " +
			"yes from age,",
			"area under the ROC curve 0.673 (95% interval 0.640 to 0.704); accuracy 85.3% (95% interval 83.8% to 86.6%)",
			"stay: the mean of days from emergency, ward; not tested on held-out rows",
			"dprelease predict f/models/risk.json ROWS.csv", " model "} {
			if !strings.Contains(flat, want) {
				t.Errorf("no %q in\n%s", want, flat)
			}
		}
		if strings.Contains(flat, "0 tables") {
			t.Errorf("a model is 0 tables in\n%s", flat)
		}
	}
}
