package release

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/spec"
)

// This file holds releases from which holders have withdrawn: the noise is that of those who are left, the report says
// so, and it protects as the plan says.

// TestErrorsAfterAWithdrawalHaveTheirLaw releases counts from which holders withdraw after others have measured. It
// compares errors and intervals with the law of the shares of those who are left, and the report with the same law.
// Errors and intervals with the noise of all holders would be noticed. Failures by chance are as in
// holders_law_test.go.
func TestErrorsAfterAWithdrawalHaveTheirLaw(t *testing.T) {
	testkit.SkipPassed(t)
	for _, c := range []struct {
		holders, trusted, withdrawn int
		text                        string
	}{{4, 2, 1, lawSpec}, {3, 2, 1, skellamRho.spec()}, {6, 3, 2, lawSpec}} {
		t.Run(fmt.Sprintf("%d of %d, less %d", c.trusted, c.holders, c.withdrawn), func(t *testing.T) {
			f := newFederation(t, trustText{c.holders, c.trusted, "disjoint"}, c.text)
			n := f.checkedNoise(t)
			stay := c.holders - c.withdrawn
			truth, law, planned := f.giveRandomRows(t, stay), n.law(stay, c.trusted), n.law(c.holders, c.trusted)
			f.sign(t)
			f.except(c.withdrawn + 1).measure(t) // the last of those who are left has not drawn yet
			left := f.withdraw(t, c.withdrawn).measureAgain(t)
			place := left.publish(t)
			counts := left.readCounts(t, place, truth)
			checkLaw(t, counts.errors, law)
			checkIntervals(t, counts, law, planned)
			mistakes := append(lawMistakes(stay, c.trusted), lawMistake{"noise of all holders of the plan", c.holders,
				c.trusted})
			if asked := n.notices(t, stay, c.trusted, lawCells, mistakes); asked < 2 { // all may be needed as it is
				t.Errorf("%d mistakes were asked for", asked)
			}
			left.checkReport(t, place, f, c.trusted, law)
		})
	}
}

// checkReport wants a published report to say with how many shares of noise these holders have released counts, of
// those who planned to, and what errors that leads to by its law.
func (f federation) checkReport(t *testing.T, place string, all federation, trusted int, law releasetest.Law) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(place, published.ReportFile))
	if err != nil {
		t.Fatal(err)
	}
	var r report.Report
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	var gone []string
	for _, h := range all.holders[len(f.holders):] {
		gone = append(gone, h.Name)
	}
	if h := r.Guarantee.Holders; h == nil || !slices.Equal(h.Withdrawn, gone) || len(h.Names) != len(all.holders) ||
		h.Trusted != trusted {
		t.Errorf("the report says of its holders %+v", h)
	}
	by := fmt.Sprintf("made by %d holders of the data, of whom any %d are trusted", len(f.holders), trusted)
	if !strings.Contains(r.Guarantee.Statement, by) {
		t.Errorf("the guarantee is not %q: %s", by, r.Guarantee.Statement)
	}
	drawn := budget.Shares{Needed: trusted, Added: len(f.holders)}
	count := r.Tables[0].Statistics[0]
	if count.Mechanism == nil || count.Mechanism.Shares != drawn {
		t.Errorf("the counts have the mechanism %+v", count.Mechanism)
	}
	if all := r.Certificate.Mechanisms; len(all) != 1 || all[0].Mechanism.Shares != drawn {
		t.Errorf("the certificate has the mechanisms %+v", all)
	}
	margin := int(count.Margin)
	if attained := 1 - beyond(law, margin+1); math.Abs(count.StandardError-deviationOf(law)) > 1e-3 ||
		math.Abs(count.Attained-attained) > 1e-6 {
		t.Errorf("the report has a standard error of %g, and by the law %g; margins of %d attain %g, and by the law %g",
			count.StandardError, deviationOf(law), margin, count.Attained, attained)
	}
	page, err := os.ReadFile(filepath.Join(place, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	wants := map[bool]string{true: fmt.Sprintf("%d/%d × ", drawn.Added, drawn.Needed)}[drawn.Added > drawn.Needed]
	planned := fmt.Sprintf("%d/%d × ", len(all.holders), trusted)
	if !strings.Contains(string(page), wants) || strings.Contains(string(page), planned) {
		t.Errorf("the page does not say %q, or says %q", wants, planned)
	}
}

// TestAuditColludersAfterAWithdrawal is TestAuditColluders where some of the colluders withdraw after all others have
// measured, so that they see the shares of two rolls. Both must show the same answers: their difference would show the
// noise. It fails by chance with probability below 24e-11: there are 3 settings, both orders of the neighbours, and 4
// checks of each.
func TestAuditColludersAfterAWithdrawal(t *testing.T) {
	testkit.SkipPassed(t)
	for _, c := range []struct {
		trust     trustText
		withdrawn int
		budget    string
		epsilon0  float64
		trials    int
	}{
		{trustText{3, 2, "disjoint"}, 1, "epsilon: 1", 0, 100000},
		{trustText{5, 2, "disjoint"}, 2, "epsilon: 1", 0, 100000},
		{trustText{4, 2, "disjoint"}, 1, "epsilon: 4, delta: 1e-6, noise: skellam", 0.5, 160000},
	} {
		t.Run(fmt.Sprintf("%d of %d, less %d, %s", c.trust.trusted, c.trust.holders, c.withdrawn, c.budget),
			func(t *testing.T) {
				colluders{trust: c.trust, withdrawn: c.withdrawn, audited: audited{neighbours: spec.AddRemove,
					budget: c.budget, maxRows: 2, marginals: 1, trials: c.trials, epsilon0: c.epsilon0}}.testView(t)
			})
	}
}
