package maker

// This file reads the ledger's receipt.

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/report"
)

// receipt is the part of the ledger's record that a report uses.
type receipt struct {
	Account     string        `json:"account"`
	Release     string        `json:"release"`
	PlanHash    string        `json:"plan_hash"`
	Status      report.Status `json:"status"`
	Cost        budget.Cost   `json:"cost"`
	Date        string        `json:"date"`
	Number      int64         `json:"number"`
	Also        []string      `json:"also"`
	Corrects    string        `json:"corrects"`
	Comparisons int64         `json:"comparisons"`
	Witnessed   bool          `json:"witnessed"`
	Proof       struct {
		Hash     string `json:"hash"`
		Previous string `json:"previous"`
		Office   string `json:"office"` // the key that signed the entry; "" if the ledger is not signed
	} `json:"proof"`
}

var datePattern = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)

// readReceipt decodes a receipt and compares it with the plan that it paid for.
func readReceipt(b json.RawMessage, p *compiled.Compiled) (receipt, error) {
	var r receipt
	if err := json.Unmarshal(b, &r); err != nil {
		return r, fmt.Errorf("the ledger's receipt cannot be read: %w", err)
	}
	switch {
	case r.PlanHash != p.Hash():
		return r, errors.New("the ledger's receipt is for another plan")
	case r.Release != p.Name:
		return r, fmt.Errorf("the ledger's receipt is for release %q, the plan for %q", r.Release, p.Name)
	case !r.Cost.Equal(p.Cost):
		return r, fmt.Errorf("the ledger's receipt is for %s, the plan charges %s", r.Cost, p.Cost)
	case !r.Status.Known():
		return r, fmt.Errorf("the ledger's receipt has status %q, expected %q, %q or %q", r.Status, report.Official,
			report.Practice, report.Rehearsal)
	case !datePattern.MatchString(r.Date):
		return r, fmt.Errorf("the ledger's receipt has date %q, expected YYYY-MM-DD", r.Date)
	}
	return r, nil
}
