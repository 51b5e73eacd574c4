package ledger

// The statement of an account: the page that a budget officer reads and that goes into minutes.

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/sign"
)

// Statement is an account as of the last entry of its ledger. All amounts are exact, except in Joint.
type Statement struct {
	Account string `json:"account"`
	Status  Status `json:"status"`
	Terms
	Opened   string   `json:"opened"`             // YYYY-MM-DD, UTC
	Parent   string   `json:"parent,omitempty"`   // the account in which every debit of this one also counts
	Children []string `json:"children,omitempty"` // accounts whose debits also count here

	Cap      Amount `json:"cap"` // with grants; nothing for a rehearsal
	Spent    Amount `json:"spent"`
	Reserved Amount `json:"reserved"`
	Left     Amount `json:"left"` // Cap - Spent - Reserved; nothing for a rehearsal

	Grants    []Granted                   `json:"grants,omitempty"`    // in Cap
	Allowance *PeriodLimit                `json:"allowance,omitempty"` // what each period may use
	Periods   []PeriodUse                 `json:"periods,omitempty"`   // periods with a reservation, oldest first
	Approvals map[string][]sign.PublicKey `json:"approvals,omitempty"` // keys by role, one of which must sign

	Releases    []StatementRelease `json:"releases"` // all that count here, in the order of their first reservation
	Standing    []StandingUse      `json:"standing,omitempty"`
	Comparisons int64              `json:"comparisons"` // of results with the truth, here and below
	Joint       *JointPlan         `json:"joint,omitempty"`

	// files that keep the newest heads elsewhere; none: a rollback cannot be detected
	Witnesses []string `json:"witnesses,omitempty"`
	Near      []string `json:"near,omitempty"` // those of them that lie on the disk of the ledger
	// whether this account, or one above it, names a witness away from the ledger's disk
	Witnessed bool `json:"witnessed"`
	// why the witnesses could not be read just now, or which entries they lack
	Unwitnessed string         `json:"unwitnessed,omitempty"`
	Office      sign.PublicKey `json:"office,omitzero"` // the key that signs every entry; none if the ledger is not signed
	Entries     int64          `json:"entries"`         // in the whole ledger
	Head        string         `json:"head"`            // hash of the last of them
}

// Granted is a grant of a Statement.
type Granted struct {
	Date   string `json:"date"`
	Amount Amount `json:"amount"`
	Reason string `json:"reason"`
}

// PeriodLimit is the allowance of a Statement: what each period may use.
type PeriodLimit struct {
	Per Period `json:"per"`
	Cap Amount `json:"cap"`
}

// PeriodUse is one period of an allowance.
type PeriodUse struct {
	Period   string `json:"period"` // "2026", "2026-Q1" or "2026-03"
	Spent    Amount `json:"spent"`
	Reserved Amount `json:"reserved"`
	Left     Amount `json:"left"` // of the allowance; the cap may have less
}

// StatementRelease is one release of a Statement.
type StatementRelease struct {
	Account  string   `json:"account"` // the account that the release names
	Also     []string `json:"also,omitempty"`
	Release  string   `json:"release"`
	PlanHash string   `json:"plan_hash"`
	Cost     Amount   `json:"cost"`
	State    State    `json:"state"`             // a Cancelled one costs nothing
	Date     string   `json:"date"`              // YYYY-MM-DD, UTC, on which it reached that state
	Debited  string   `json:"debited,omitempty"` // YYYY-MM-DD, UTC, on which it was debited
	Reason   string   `json:"reason,omitempty"`  // of abandoning or withdrawing
	Corrects string   `json:"corrects,omitempty"`
	Approved []string `json:"approved,omitempty"` // the roles that signed
}

// StandingUse is a standing approval that releases of a Statement used.
type StandingUse struct {
	Role     string         `json:"role"`
	Signer   sign.PublicKey `json:"signer"`
	Template string         `json:"template"`
	Until    string         `json:"until"`
	Releases int64          `json:"releases"` // how many it covers
	Used     int64          `json:"used"`     // how many hold a reservation or a debit under it
}

// statement returns the statement of an account. Errors: *NoAccount.
func (b *book) statement(name string) (Statement, error) {
	a := b.accounts[name]
	if a == nil {
		return Statement{}, &NoAccount{Ledger: b.ledger, Account: name}
	}
	s := Statement{Account: name, Status: a.status, Terms: a.policy.Terms, Opened: a.opened, Parent: a.policy.Parent,
		Children:  slices.Clone(a.children),
		Approvals: a.policy.Approvals, Comparisons: a.comparisons, Witnesses: b.witnessPaths(),
		Near:      slices.Sorted(maps.Keys(b.witnessesOnDisk)),
		Witnessed: b.areWitnessed(a.withAncestors()), Unwitnessed: b.unwitnessed, Office: b.office,
		Releases: []StatementRelease{}, Entries: b.sequence, Head: b.head.String(), Spent: AmountOf(a.total.spent),
		Reserved: AmountOf(a.total.reserved)}
	if err := a.fillBalance(&s); err != nil {
		return Statement{}, fmt.Errorf("ledger %s, account %s: %w", b.ledger, name, err)
	}
	for _, g := range a.grants {
		s.Grants = append(s.Grants, Granted{Date: g.date, Amount: AmountOf(g.amount), Reason: g.reason})
	}
	for _, p := range a.charges {
		s.Releases = append(s.Releases, p.inStatement())
	}
	s.Standing = b.standingApprovals(a)
	s.Joint = a.jointPlan()
	return s, nil
}

// fillBalance fills in what is left of the cap and of each period.
func (a *account) fillBalance(s *Statement) error {
	if a.status == Rehearsal {
		return nil
	}
	limit, err := a.capWithGrants()
	if err != nil {
		return err
	}
	left, err := a.total.remainingOf(limit)
	if err != nil {
		return err
	}
	s.Cap, s.Left = AmountOf(limit), AmountOf(left)
	if a.policy.Allowance == nil {
		return nil
	}
	s.Allowance = &PeriodLimit{Per: a.policy.Allowance.Per, Cap: AmountOf(a.policy.Allowance.Cap)}
	for _, name := range a.periodOrder {
		p := a.periods[name]
		left, err := p.remainingOf(a.policy.Allowance.Cap)
		if err != nil {
			return err
		}
		s.Periods = append(s.Periods, PeriodUse{Period: name, Spent: AmountOf(p.spent), Reserved: AmountOf(p.reserved),
			Left: AmountOf(left)})
	}
	return nil
}

func (p *recordedCharge) inStatement() StatementRelease {
	out := StatementRelease{Account: p.charge.Account, Also: slices.Clone(p.charge.FurtherAccounts),
		Release:  p.charge.Release,
		PlanHash: p.charge.PlanHash,
		Cost:     AmountOf(p.charge.Cost), State: p.state, Date: p.date, Debited: p.debited, Reason: p.reason,
		Corrects: p.charge.Corrects}
	for _, a := range p.charge.Approvals {
		if !slices.Contains(out.Approved, a.Role) {
			out.Approved = append(out.Approved, a.Role)
		}
	}
	return out
}

// standingApprovals returns the standing approvals that charges of a use, in the order of their first use.
func (b *book) standingApprovals(a *account) []StandingUse {
	var all []StandingUse
	seen := map[digest]bool{}
	for _, p := range a.charges {
		for _, approval := range p.charge.Approvals {
			id := approval.identity()
			if approval.Standing == nil || seen[id] {
				continue
			}
			seen[id] = true
			all = append(all, StandingUse{Role: approval.Role, Signer: approval.Signer, Template: approval.Plan,
				Until:    approval.Standing.Until,
				Releases: approval.Standing.Releases, Used: b.standingUse[id]})
		}
	}
	return all
}

// String renders the page, in plain text.
func (s Statement) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Privacy account %s: %s\n", s.Account, s.Status.inWords())
	fmt.Fprintf(&b, "Protects each %s; neighbouring tables differ by %s. Opened %s.\n", s.Protects,
		s.neighboursInWords(),
		s.Opened)
	if s.Parent != "" {
		fmt.Fprintf(&b, "Below %s: what is reserved or spent here counts there too.\n", s.Parent)
	}
	if len(s.Children) > 0 {
		fmt.Fprintf(&b, "Above %s: what is reserved or spent there counts here too.\n", strings.Join(s.Children, ", "))
	}
	s.writeRoles(&b)
	b.WriteString("\n")
	s.writeBalance(&b)
	s.writeGrants(&b)
	s.writePeriods(&b)
	b.WriteString("\n")
	s.writeReleases(&b)
	s.writeStanding(&b)
	if s.Joint != nil && s.Joint.Releases > 1 {
		fmt.Fprintf(&b, "\n%s\n", s.Joint)
	}
	if s.Comparisons > 0 {
		fmt.Fprintf(&b, "\nResults were compared with the truth %s.\n", timesInWords(s.Comparisons))
	}
	s.writeTrust(&b)
	return b.String()
}

func timesInWords(n int64) string {
	if n == 1 {
		return "once"
	}
	return budget.Group(n) + " times"
}

func (s Statement) neighboursInWords() string {
	if s.Neighbours == Replace {
		return "one " + s.Protects + " replaced by another"
	}
	return "one " + s.Protects + " added or removed"
}

// writeRoles writes the roles that must approve, with the fingerprints of their keys.
func (s Statement) writeRoles(b *strings.Builder) {
	if len(s.Approvals) == 0 {
		return
	}
	b.WriteString("Every plan, and every grant, is signed in each of these roles, by one of its keys:\n")
	w := tabwriter.NewWriter(b, 0, 0, 3, ' ', 0)
	for _, role := range (Policy{Approvals: s.Approvals}).roles() {
		for _, key := range s.Approvals[role] {
			fmt.Fprintf(w, "%s\t%s\n", role, key.Fingerprint())
		}
	}
	w.Flush()
}

// writeBalance writes cap, spent, reserved and left, each with its share of the cap.
func (s Statement) writeBalance(b *strings.Builder) {
	w := tabwriter.NewWriter(b, 0, 0, 3, ' ', 0)
	row := func(name string, c budget.Cost, up bool) {
		fmt.Fprintf(w, "%s\t%s", name, inWords(c, s.Cap.Delta != nil))
		if share := shareOf(c, s.Cap.Cost, up); share != "" {
			fmt.Fprintf(w, "\t%s", share)
		}
		fmt.Fprintln(w)
	}
	if s.Status == Rehearsal {
		fmt.Fprintln(w, "cap\tnone")
	} else {
		row("cap", s.Cap.Cost, true)
	}
	row("spent", s.Spent.Cost, true)
	row("reserved", s.Reserved.Cost, true)
	if s.Status != Rehearsal {
		row("left", s.Left.Cost, false)
	}
	w.Flush()
}

// shareOf returns c as a percentage of limit, in ε or ρ, to one decimal place: rounded up if up is set, and down if
// not.
func shareOf(c, limit budget.Cost, up bool) string {
	part, whole := c.Epsilon, limit.Epsilon
	if whole == nil {
		part, whole = c.Rho, limit.Rho
	}
	if part == nil || whole == nil {
		return ""
	}
	permille := new(big.Rat).Quo(part, whole)
	permille.Mul(permille, big.NewRat(1000, 1))
	tenths := new(big.Int).Quo(permille.Num(), permille.Denom())
	if up && !permille.IsInt() {
		tenths.Add(tenths, big.NewInt(1))
	}
	return new(big.Rat).SetFrac(tenths, big.NewInt(10)).FloatString(1) + "%"
}

// writeGrants writes the grants that raised the cap.
func (s Statement) writeGrants(b *strings.Builder) {
	if len(s.Grants) == 0 {
		return
	}
	b.WriteString("\nThe cap holds these grants:\n")
	w := tabwriter.NewWriter(b, 0, 0, 3, ' ', 0)
	for _, g := range s.Grants {
		fmt.Fprintf(w, "%s\t%s\t%s\n", g.Date, inWords(g.Amount.Cost, false), g.Reason)
	}
	w.Flush()
}

// writePeriods writes what each period used of its allowance.
func (s Statement) writePeriods(b *strings.Builder) {
	if s.Allowance == nil {
		return
	}
	delta := s.Allowance.Cap.Delta != nil
	fmt.Fprintf(b, "\nEach %s may use %s, by the day of the reservation; what one leaves does not carry over.\n",
		s.Allowance.Per, inWords(s.Allowance.Cap.Cost, delta))
	if len(s.Periods) == 0 {
		return
	}
	w := tabwriter.NewWriter(b, 0, 0, 3, ' ', 0)
	fmt.Fprintf(w, "%s\tspent\treserved\tleft\n", s.Allowance.Per)
	for _, p := range s.Periods {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", p.Period, inWords(p.Spent.Cost, delta), inWords(p.Reserved.Cost, delta),
			inWords(p.Left.Cost, delta))
	}
	w.Flush()
}

// writeReleases writes one line for each release.
func (s Statement) writeReleases(b *strings.Builder) {
	if len(s.Releases) == 0 {
		b.WriteString("No release has asked anything of it.\n")
		return
	}
	w := tabwriter.NewWriter(b, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "date\tstate\tcost\tplan\trelease")
	states := map[State]bool{}
	for _, p := range s.Releases {
		cost := inWords(p.Cost.Cost, false)
		if p.State == Cancelled {
			cost = "none; asked for " + cost
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", p.Date, p.State, cost, shortHash(p.PlanHash), p.inWords(s.Account))
		states[p.State] = true
	}
	w.Flush()
	if states[Reserved] {
		b.WriteString("What is reserved counts against the cap until its release is finished (run it again) or " +
			"cancelled.\n")
	}
	if states[Cancelled] {
		b.WriteString("What is cancelled cost nothing: it ended before its debit, and its reservation was given back.\n")
	}
	if states[Debited] {
		b.WriteString("What is debited is spent; its release is not finished: run it again, and it resumes at no " +
			"further cost.\n")
	}
}

// inWords returns the release with further information for the page of an account.
func (p StatementRelease) inWords(account string) string {
	text := p.Release
	if p.Account != account {
		text += " (on " + p.Account + ")"
	}
	if p.Corrects != "" {
		text += ", corrects " + p.Corrects
	}
	if p.Reason != "" {
		text += ": " + p.Reason
	}
	return text
}

// writeStanding writes how many releases of each standing approval are used.
func (s Statement) writeStanding(b *strings.Builder) {
	if len(s.Standing) == 0 {
		return
	}
	b.WriteString("\nStanding approvals in use:\n")
	w := tabwriter.NewWriter(b, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "role\tuntil\tused\ttemplate\tkey")
	for _, a := range s.Standing {
		fmt.Fprintf(w, "%s\t%s\t%d of %d\t%s\t%s\n", a.Role, a.Until, a.Used, a.Releases, shortHash(a.Template),
			a.Signer.Fingerprint())
	}
	w.Flush()
}

// writeTrust writes who signs the ledger and which witnesses guard it.
func (s Statement) writeTrust(b *strings.Builder) {
	fmt.Fprintf(b, "\nAs of entry %d of the ledger, head %s.\n", s.Entries, s.Head)
	for _, line := range s.Trust() {
		b.WriteString(line + "\n")
	}
}

// Trust returns sentences on who signs the ledger and on whether a rollback to an older copy would be noticed.
func (s Statement) Trust() []string {
	var lines []string
	if !s.Office.IsZero() {
		lines = append(lines, fmt.Sprintf("Every entry is signed by the office's key, fingerprint %s.",
			s.Office.Fingerprint()))
	}
	switch {
	case s.Unwitnessed != "":
		lines = append(lines, fmt.Sprintf(
			"The witness cannot answer for this copy (%s): a rollback of the ledger to an older copy would not have "+
				"been noticed now.", s.Unwitnessed))
	case len(s.Near) > 0 && !s.Witnessed:
		lines = append(lines, fmt.Sprintf(
			"The newest heads are kept in %s too, on the disk of the ledger: an older copy of its file is noticed, "+
				"but not one of the disk.", strings.Join(s.Near, " and ")))
	case len(s.Witnesses) > 0 && !s.Witnessed:
		lines = append(lines, fmt.Sprintf(
			"The newest heads are kept in %s too, but account %s, or one above it, names no witness: a rollback of "+
				"the ledger to a copy from before that one was named cannot be detected.",
			strings.Join(s.Witnesses, " and "), s.Account))
	case len(s.Witnesses) > 0:
		lines = append(lines, fmt.Sprintf(
			"The newest heads are kept in %s too: an older copy of the ledger is noticed.",
			strings.Join(s.Witnesses, " and ")))
	default:
		lines = append(lines, "This ledger has no witness: a rollback of its file to an older copy cannot be detected.",
			"Keep the entry number and the head above elsewhere, in the minutes for instance: an older copy ends "+
				"before that entry.")
	}
	return lines
}
