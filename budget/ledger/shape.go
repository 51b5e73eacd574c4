package ledger

// The fields of each kind of entry. An entry with other fields was not written by this version.

// fieldSet is a set of the fields of an entry.
type fieldSet uint16

const (
	hasPolicy fieldSet = 1 << iota
	hasRelease
	hasPlan
	hasAlso
	hasCost
	hasTemplate
	hasCorrects
	hasMechanisms
	hasApprovals
	hasAttest
	hasSeal
	hasReason
)

// shapes holds the fields that the entries of a kind must have, and the further fields they may have.
var shapes = map[kind]struct{ must, may fieldSet }{
	kindInit: {must: hasPolicy},
	kindReserve: {must: hasRelease | hasPlan | hasCost,
		may: hasAlso | hasTemplate | hasCorrects | hasMechanisms | hasApprovals},
	kindCancel: {must: hasRelease | hasPlan},
	kindDebit: {must: hasRelease | hasPlan | hasCost | hasAttest,
		may: hasAlso | hasTemplate | hasCorrects | hasApprovals},
	kindRelease:  {must: hasRelease | hasPlan | hasSeal},
	kindAbandon:  {must: hasRelease | hasPlan | hasReason},
	kindWithdraw: {must: hasRelease | hasPlan | hasReason},
	kindGrant:    {must: hasCost | hasReason, may: hasApprovals},
	kindCompare:  {must: hasRelease | hasReason},
}

// hasShape reports whether e has the fields of its kind.
func (e entry) hasShape() bool {
	shape, known := shapes[e.Kind]
	has := e.presentFields()
	return known && has&shape.must == shape.must && has&^(shape.must|shape.may) == 0
}

func (e entry) presentFields() fieldSet {
	var has fieldSet
	for f, there := range map[fieldSet]bool{
		hasPolicy: e.Policy != nil, hasRelease: e.Release != "", hasPlan: e.PlanHash != "", hasAlso: e.Also != nil,
		hasCost:     e.Cost != nil,
		hasTemplate: e.Template != "", hasCorrects: e.Corrects != "", hasMechanisms: e.Mechanisms != nil,
		hasApprovals: e.Approvals != nil,
		hasAttest:    e.Attest != nil, hasSeal: e.Seal != "", hasReason: e.Reason != "",
	} {
		if there {
			has |= f
		}
	}
	return has
}
