package plan

import (
	"encoding/json"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

// Basis says which matrix a factor of a query applies to its attribute.
type Basis string

// Identity keeps every category of the attribute's level apart: the n × n unit
// matrix, so a query of identity factors is a marginal.
const Identity Basis = "identity"

// Factor is one attribute's part of a [Query].
type Factor struct {
	Attribute string `json:"attribute"`       // column name
	Level     string `json:"level,omitempty"` // empty: the finest level
	Basis     Basis  `json:"basis"`
}

// String is the attribute as a spec writes it, such as "age.band".
func (f Factor) String() string {
	return spec.Attribute{Column: f.Attribute, Level: f.Level}.String()
}

// Query is an integer linear query on one table: the Kronecker product of its
// factors, in order, applied to the histogram of the table's rows. Attributes
// without a factor are summed out. Its answers are row-major over the factors:
// the last factor's categories change fastest.
type Query struct {
	Table   string   `json:"table"`
	Factors []Factor `json:"factors"`
}

// Measurement is a query with the exact noise that its answers get. Everything
// that is ever learned of a confidential table is a measurement.
type Measurement struct {
	ID        string           `json:"id"`             // path of the table it was planned for
	Leaf      string           `json:"leaf,omitempty"` // budget leaf that pays
	Query     Query            `json:"query"`
	Cells     int64            `json:"cells"` // answers of the query
	Mechanism budget.Mechanism `json:"mechanism"`
}

// Canonical is the definition from which the noise stream of the measurement is
// derived. It holds the ID, so that a question asked twice in one plan is
// answered with two independent draws.
func (m Measurement) Canonical() []byte {
	b, err := json.Marshal(struct {
		ID        string           `json:"id"`
		Query     Query            `json:"query"`
		Mechanism budget.Mechanism `json:"mechanism"`
	}{m.ID, m.Query, m.Mechanism})
	if err != nil {
		panic("plan: a measurement always encodes: " + err.Error())
	}
	return b
}

// tablePath is where the marginal over some attributes is published: the
// marginal's name or, where the spec asks for every subset, a file of its own
// below that name.
func tablePath(marginal string, every bool, by []spec.Attribute) string {
	if !every {
		return marginal
	}
	if len(by) == 0 {
		return marginal + "/total"
	}
	names := make([]string, len(by))
	for i, a := range by {
		names[i] = a.String()
	}
	return marginal + "/" + strings.Join(names, "_x_")
}
