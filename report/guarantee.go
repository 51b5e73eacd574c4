package report

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
)

// Guarantee is the promise of a release. Epsilon, Delta and Rho are exact, as
// asked for; fields of other definitions are absent.
type Guarantee struct {
	Definition  string       `json:"definition"` // "pure", "approximate" or "zcdp"
	Epsilon     string       `json:"epsilon,omitempty"`
	Delta       string       `json:"delta,omitempty"`
	Rho         string       `json:"rho,omitempty"`
	Equivalents []Equivalent `json:"equivalents"`
	Method      string       `json:"method"`
	Protects    string       `json:"protects"`
	Neighbours  string       `json:"neighbours"` // "add-remove" or "replace"
	Unit        string       `json:"unit"`
	MaxRows     int64        `json:"max_rows"`                  // in all tables
	Rows        []UnitRows   `json:"rows_in_tables,omitempty"`  // where they are several
	WithoutID   string       `json:"rows_without_id,omitempty"` // what happens to them, "" where the run stops
	Sample      string       `json:"sample,omitempty"`          // the share of the units that is drawn in secret, an exact fraction; "" for all
	Meaning     Meaning      `json:"meaning"`
	Statement   string       `json:"statement"` // [plan.Guarantee.Sentence], the promise in the field's terms
	Sentences   []string     `json:"sentences"` // the promise in words that anyone understands
}

// UnitRows is how many rows of a unit are counted at most in one of several tables.
type UnitRows struct {
	Table   string `json:"table"`
	ID      string `json:"id"`
	MaxRows int64  `json:"max_rows"`
}

// Equivalent is the ε that the guarantee implies at a δ, rounded up.
type Equivalent struct {
	Delta   string  `json:"delta"`
	Epsilon float64 `json:"epsilon"`
	Method  string  `json:"method"`
}

// Meaning is what the promise comes to for one unit, every figure rounded up.
type Meaning struct {
	Epsilon string  `json:"epsilon"` // the ε and δ it is worked out at
	Delta   string  `json:"delta"`
	Factor  string  `json:"factor"`      // e^ε, or a power of ten above it
	Guess   float64 `json:"guess_right"` // (e^ε + δ)/(1 + e^ε)
	Weak    bool    `json:"weak"`        // ε above 10
}

// guaranteeOf restates a plan's guarantee and puts it in words.
func guaranteeOf(p plan.Guarantee) (Guarantee, error) {
	g := Guarantee{
		Definition: p.Definition, Epsilon: p.Epsilon, Delta: p.Delta, Rho: p.Rho, Equivalents: []Equivalent{},
		Method: p.Method, Protects: p.Protects, Neighbours: p.Neighbours, Unit: p.Unit, MaxRows: p.MaxRows, WithoutID: p.WithoutID, Sample: p.Sample,
	}
	for _, t := range p.Rows {
		g.Rows = append(g.Rows, UnitRows(t))
	}
	for _, e := range p.Equivalents {
		g.Equivalents = append(g.Equivalents, Equivalent(e))
	}
	epsilon, delta, err := g.readAt()
	if err != nil {
		return Guarantee{}, err
	}
	o := oddsOf(epsilon, delta)
	g.Meaning = Meaning{Epsilon: budget.DecimalUp(epsilon, 4), Delta: budget.DecimalUp(delta, 4), Factor: o.factor, Guess: o.guess, Weak: o.weak}
	g.Statement = describe.Guarantee(p)
	g.Sentences = slices.DeleteFunc([]string{
		g.protectedSentence(), g.guessSentence(), g.factorSentence(), g.plainSentence(), g.weakSentence(), g.countedSentence(), g.knownSentence(), g.limitSentence(),
	}, func(s string) bool { return s == "" })
	return g, nil
}

// readAt is the (ε, δ) at which the promise is put in words: its own, or the
// first that a promise in ρ implies.
func (g Guarantee) readAt() (epsilon, delta *big.Rat, err error) {
	switch g.Definition {
	case "pure":
		epsilon, err = budget.ParseRat(g.Epsilon)
		return epsilon, new(big.Rat), err
	case "approximate":
		if epsilon, err = budget.ParseRat(g.Epsilon); err != nil {
			return nil, nil, err
		}
		delta, err = budget.ParseRat(g.Delta)
		return epsilon, delta, err
	case "zcdp":
		return g.implied()
	}
	return nil, nil, fmt.Errorf("the plan's guarantee is of definition %q, expected pure, approximate or zcdp", g.Definition)
}

// implied is the first (ε, δ) that a promise in ρ implies.
func (g Guarantee) implied() (epsilon, delta *big.Rat, err error) {
	if len(g.Equivalents) == 0 {
		return nil, nil, fmt.Errorf("the plan's guarantee in ρ says no ε at any δ")
	}
	e := g.Equivalents[0]
	if epsilon = new(big.Rat).SetFloat64(e.Epsilon); epsilon == nil {
		return nil, nil, fmt.Errorf("the plan's ε at δ = %s is not finite", e.Delta)
	}
	delta, err = budget.ParseRat(e.Delta)
	return epsilon, delta, err
}

func (g Guarantee) factorSentence() string {
	b := &strings.Builder{}
	change := "Whether any one " + g.Protects + " is in the data or not"
	if g.Neighbours == "replace" {
		change = "Replacing the data of any one " + g.Protects + " by any other"
	}
	fmt.Fprintf(b, "%s changes the chance of any result at most %s-fold (e^ε for ε = %s, rounded up)", change, g.Meaning.Factor, g.Meaning.Epsilon)
	if g.Meaning.Delta != "0" {
		fmt.Fprintf(b, ", apart from an extra chance of at most %s", g.deltaText())
	}
	return b.String() + "."
}

// deltaText is δ as one in so many, rounded towards more, beside the number itself.
func (g Guarantee) deltaText() string {
	_, delta := g.meant()
	if delta.Sign() <= 0 {
		return g.Meaning.Delta
	}
	once := new(big.Int).Quo(delta.Denom(), delta.Num())
	if !once.IsInt64() || once.Int64() < 2 {
		return "δ = " + g.Meaning.Delta
	}
	return fmt.Sprintf("one in %s (δ = %s)", budget.Group(once.Int64()), g.Meaning.Delta)
}

// meant is the ε and δ that the promise is put in words at, as they are shown.
func (g Guarantee) meant() (epsilon, delta *big.Rat) {
	read := func(text string) *big.Rat {
		r, err := budget.ParseRat(text)
		if err != nil {
			return new(big.Rat)
		}
		return r
	}
	return read(g.Meaning.Epsilon), read(g.Meaning.Delta)
}

func (g Guarantee) guessSentence() string {
	bet := "is in the data"
	if g.Neighbours == "replace" {
		bet = "has one set of values or another"
	}
	right := "at most " + budget.Percent(g.Meaning.Guess) + " of the time"
	if g.Meaning.Guess >= 1 {
		right = "as good as always, as far as this promise goes,"
		if n := oddsOf(g.meant()).wrongOnce; n > 0 {
			right = fmt.Sprintf("at most %s times in %s", budget.Group(n-1), budget.Group(n))
		}
	}
	return fmt.Sprintf("Somebody who knows everything about everybody else, and for whom it is an even bet whether one %s %s, would guess right %s after seeing all of this release; without it, 50%% of the time.",
		g.Protects, bet, right)
}

// knownSentence says that the promise on being in the data bounds less well what is learned of somebody who is known to be.
func (g Guarantee) knownSentence() string {
	if g.Neighbours == "replace" {
		return ""
	}
	return fmt.Sprintf("The promise is about whether a %s is in the data. Of the values of a %s who is known to be, more can be learned; the certificate says at most how much.", g.Protects, g.Protects)
}

// plainFrom is the factor from which on the promise is also said of a rare result.
const plainFrom = 10

// plainSentence says of a rare result how likely the promise lets one make it, where the factor is large.
func (g Guarantee) plainSentence() string {
	times := oddsOf(g.meant()).inThousand
	if times < plainFrom {
		return ""
	}
	without, with := "without that "+g.Protects, "with that "+g.Protects
	if g.Neighbours == "replace" {
		without, with = "with one set of values", "with another"
	}
	comes := fmt.Sprintf("up to %d times in 1000", times)
	if times >= 1000 {
		comes = "every time"
	}
	return fmt.Sprintf("Put plainly: what comes out 1 time in 1000 %s may come out %s %s.", without, comes, with)
}

// byRow tells that each row is protected, not all rows of a unit together.
func (g Guarantee) byRow() bool { return g.Unit == "each row" }

// protectedSentence says what is protected.
func (g Guarantee) protectedSentence() string {
	if g.byRow() {
		return fmt.Sprintf("Protected is each row of the data, as one %[1]s: of a %[1]s with several rows the promise holds row by row, and less of all of them together.", g.Protects)
	}
	return fmt.Sprintf("Protected is each %s: %s together.", g.Protects, g.Unit)
}

// countedSentence says which rows of a unit are counted, "" where each row is one.
func (g Guarantee) countedSentence() string {
	if g.byRow() {
		return ""
	}
	counted := fmt.Sprintf("Of the rows of one %s one is counted; any others were left out, chosen at random.", g.Protects)
	if g.MaxRows > 1 {
		counted = fmt.Sprintf("Of the rows of one %s at most %s are counted; the rest were left out, chosen at random.", g.Protects, g.counted())
	}
	if g.WithoutID != "" {
		counted += " Rows without an id are in no figure: all of them were left out."
	}
	return counted
}

// boundsSentences say of the promise to what figures and weights it is owed: what one unit adds is bounded.
func (b *Bounds) boundsSentences(protects string) []string {
	if b == nil {
		return nil
	}
	var all []string
	for _, w := range b.Weights {
		text := fmt.Sprintf("A row of %s counts by its weight, %s at most", w.Table, ratText(w.High))
		if w.Kind == designWeights {
			text += ", which is taken to be an attribute of its " + protects + " and to depend on no other"
		}
		if w.Kind == calibratedWeights {
			text += fmt.Sprintf("; weights were calibrated, so they depend on the rows of others, and the promise is for rows with weights as they are, not for what one weight tells of another %s", protects)
		}
		all = append(all, text+".")
	}
	if len(b.Columns) > 0 {
		var names []string
		for _, c := range b.Columns {
			names = append(names, c.Column)
		}
		all = append(all, fmt.Sprintf("What one %s adds to a figure is bounded: values of %s count within the ranges that the spec declares, whatever they are.", protects, inWords(names)))
	}
	return all
}

// counted is how many rows of a unit are counted at most.
func (g Guarantee) counted() string {
	if g.Rows == nil {
		return budget.Group(g.MaxRows)
	}
	each := make([]string, len(g.Rows))
	for i, t := range g.Rows {
		each[i] = fmt.Sprintf("%s in %s", budget.Group(t.MaxRows), t.Table)
	}
	return inWords(each)
}

func (g Guarantee) weakSentence() string {
	if !g.Meaning.Weak {
		return ""
	}
	return fmt.Sprintf("This promise is weak. With ε above %d it rules out little by itself: how well one %s is protected then rests on what an attacker does not know.", weakEpsilon, g.Protects)
}

func (g Guarantee) limitSentence() string {
	s := "The promise is about this release alone: what other releases from the same data reveal adds to it. It does not hide what is true in general."
	if g.Neighbours == "replace" {
		s += " The number of units in the data (each " + g.Protects + ") is treated as public."
		if g.Rows != nil {
			s += " That is their number in all tables together: how many have rows in one of them is not."
		}
	}
	return s
}
