package ledger

// Which fields the entries of each kind have. One that has others, or lacks some, was not written by this version.

// field is a set of fields of an entry.
type field uint16

const (
	hasPolicy field = 1 << iota
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

// shapes lists what the entries of a kind must have, and may have besides.
var shapes = map[kind]struct{ must, may field }{
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

// shaped reports whether e has the fields of its kind.
func (e entry) shaped() bool {
	shape, known := shapes[e.Kind]
	has := e.fields()
	return known && has&shape.must == shape.must && has&^(shape.must|shape.may) == 0
}

func (e entry) fields() field {
	var has field
	for f, there := range map[field]bool{
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
