package report

import (
	"fmt"
	"math/big"
	"strconv"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/describe"
)

// driven says of a count from how far apart on two of so many published cells differ beyond noise.
//
// Counts are published as they are shown, where negative, as 0, which takes no two further apart, and rounded, which takes two less
// than 1 further apart where they are not whole. So published counts that are m+1 apart, m the margin of the difference rounded up,
// have estimates that are more than m apart.
func (s *Statistic) driven(a compiled.Apart, cells int64) {
	if cells > 1 && a.Margin < 1<<62 {
		s.Apart, s.ApartBound = describe.WholeMargin(a.Margin)+1, !a.Exact
	}
}

// ApartText is the rule in a sentence, "" where none is known.
func (s Statistic) ApartText() string {
	if s.Apart == 0 {
		return ""
	}
	cells := "Two cells"
	if s.Fitted != nil {
		cells = "Two unbiased counts"
	}
	return fmt.Sprintf("%s less than %[2]s apart: may be noise alone. At least %[2]s apart, even where intervals overlap: more than noise (wrong for at most %[3]s in 100 pairs that are equal and picked beforehand; whoever looks at many pairs finds such by chance). Sampling error, if any, comes on top.",
		cells, budget.Group(s.Apart), inHundred(s.Confidence))
}

// ApartRule is the rule for all tables, "" where no distance is known.
func (r *Report) ApartRule() string {
	if !r.Apart() {
		return ""
	}
	counts := "they"
	if r.fittedSome() {
		counts = "their unbiased counts"
	}
	text := fmt.Sprintf("Smallest real difference: two cells of a table, picked beforehand, differ, %s sure, if %s are at least so far apart, even where intervals overlap. %s That is of noise, not of sampling error.",
		level(r.Accuracy.Confidence), counts, pickedAfter(r.Accuracy.Confidence))
	if r.Uneven() {
		text += " Where cells have different errors it is that of the two for which it is largest."
	}
	return text
}

// pickedAfter says why pairs are to be picked beforehand: each of equal ones is so far apart with a chance of at most what the
// confidence leaves, so that of all that are looked at as many are on the mean, at most.
func pickedAfter(confidence float64) string {
	return fmt.Sprintf("Who looks at many pairs and picks some finds up to %s in 100 equal ones so far apart by chance.", inHundred(confidence))
}

// inHundred is how many in a hundred a confidence leaves.
func inHundred(confidence float64) string {
	miss := new(big.Rat).Sub(big.NewRat(1, 1), exact(strconv.FormatFloat(confidence, 'g', -1, 64)))
	percent, _ := miss.Mul(miss, big.NewRat(100, 1)).Float64()
	return strconv.FormatFloat(percent, 'f', -1, 64)
}

// distance is from how far apart on two of its cells differ, a dash where that is not known.
func (s Statistic) distance() string {
	if s.Apart == 0 {
		return "–"
	}
	return budget.Group(s.Apart)
}

// distances are the least and the largest distance from which on two cells of a table differ beyond noise; 0 where none is known.
func (r *Report) distances() (least, most int64) {
	for _, t := range r.Tables {
		for _, s := range t.Statistics {
			if t.Aside || s.Apart == 0 {
				continue
			}
			if least == 0 || s.Apart < least {
				least = s.Apart
			}
			most = max(most, s.Apart)
		}
	}
	return least, most
}

// Apart tells that it is known of some table from how far apart on two of its cells differ.
func (r *Report) Apart() bool {
	_, most := r.distances()
	return most > 0
}

// sameUse is what the box says of two counts; "" where their errors are zero.
func (r *Report) sameUse() string {
	least, most := r.distances()
	sure := level(r.Accuracy.Confidence)
	unbiased := ""
	if r.fittedSome() {
		unbiased = " Of tables whose counts were made to add up, compare the unbiased counts: adding up has moved the published ones."
	}
	switch {
	case most > 0 && least == most:
		return fmt.Sprintf("Do not call two counts of a table different that are less than %s apart: that may be noise alone. From there on two that were picked beforehand differ, %s sure.", budget.Group(most), sure) + unbiased
	case most > 0:
		return fmt.Sprintf("Do not call two counts of a table different that are less apart than the %s says (%s to %s, by table): that may be noise alone. From there on two that were picked beforehand differ, %s sure.", differenceColumn, budget.Group(least), budget.Group(most), sure) + unbiased
	case r.Accuracy.Margin > 0 && !r.oneBound():
		return "Do not call two counts of a table different that are less than twice the margin of the table apart: that may be noise alone." + unbiased
	case r.Accuracy.Margin > 0:
		return fmt.Sprintf("Do not call two counts of a table different that are less than twice the margin apart (the margin is ±%s at most here): that may be noise alone.", budget.Group(describe.WholeMargin(r.Accuracy.Margin))) + unbiased
	}
	return ""
}

// apartNote says when two cells differ by more than noise: by the law of their difference and, beyond one table, where their
// intervals are apart. One of two intervals fails with a probability of no more than the chances of either to fail, added up,
// however the noise of the cells is correlated.
func (r *Report) apartNote() Note {
	chance, confidence := "at most ", exact(strconv.FormatFloat(r.Accuracy.Confidence, 'g', -1, 64))
	if r.Guarantee.Sample != "" {
		chance = "about "
	}
	miss := new(big.Rat).Sub(big.NewRat(1, 1), confidence)
	once, _ := miss.Float64()
	both, _ := new(big.Rat).Mul(big.NewRat(2, 1), miss).Float64()
	intervals := fmt.Sprintf("can be called different where their intervals do not touch: that is wrong with a chance of %s%s, and usually of far less.", chance, budget.Percent(both))
	least, most := r.distances()
	if most == 0 {
		return Note{"Two cells differ where their intervals are apart", "Two cells that were picked beforehand " + intervals + " Where the intervals overlap the difference may be noise alone. Of many pairs some are apart by chance."}
	}
	distance, which := budget.Group(most)+" apart", "That distance is"
	if least != most {
		distance = fmt.Sprintf("as far apart as the %s of the list of tables says (%s to %s, by table)", differenceColumn, budget.Group(least), budget.Group(most))
		which = "These distances are"
	}
	counts := "published"
	if r.fittedSome() {
		counts = "unbiased"
	}
	text := fmt.Sprintf("Two cells of one table that were picked beforehand differ beyond noise if their %[1]s counts are at least %[2]s, even where their intervals overlap. Where their exact counts are equal noise takes the %[1]s ones so far apart with a chance of at most %[3]s. %[4]s from the law of the noise of both cells together: as a rule less than twice the margin, as noise seldom pushes both the wrong way, and about √2 times the margin where each cell has noise of its own.",
		counts, distance, budget.Percent(once), which)
	if joint(r.Tables) {
		text += " Where cells share noise, in tables that were put together from several measurements, that is reckoned with, and the distance is that of the two cells for which it is largest."
	}
	if bound := r.bounded(); bound != nil {
		half := level(1 - once/2)
		text += fmt.Sprintf(" Of %s it is a bound that holds however the noise of two cells is correlated: two margins at %s, rather more than is needed.", fewNames(bound), half)
	}
	if r.fittedSome() {
		text += " Published counts that were made to add up have been moved, and are not to be compared so."
	}
	if some(r.Tables, func(s Statistic) bool { return s.Largest > 0 }) {
		text += " Cells with smaller errors than others differ from less on."
	}
	return Note{"Two cells differ where they are far enough apart", text + " Two cells of different tables, or two figures beside counts, " + intervals + " " + pickedAfter(r.Accuracy.Confidence)}
}

// bounded are the tables whose distance is from a bound.
func (r *Report) bounded() []string {
	var paths []string
	for _, t := range r.Tables {
		if !t.Aside && t.Statistics[0].ApartBound {
			paths = append(paths, t.Path)
		}
	}
	return paths
}
