package notes

// This file says what a report states about several holders of the data.

import (
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
)

// holdersSentence says who made the release together, and against whom the promise holds; "" if one place has all data.
func holdersSentence(l *language.Language, g report.Guarantee) string {
	h := g.Holders
	if h == nil {
		return ""
	}
	with := h.TookPart()
	return l.Text("The data are with %d holders: %s. None of them has shown another its data: each added its share "+
		"of the noise to its own numbers and masked them, and only the sum could be read.",
		len(with), l.List(with)) + " " +
		words.When(h.Withdrawn != nil,
			l.Text("Planned were more, and %s withdrew before measuring: its data are in no figure.",
				l.List(h.Withdrawn))+" ") +
		words.Either(h.Trusted < len(with),
			l.Text("The promise holds as long as %d of them, whichever, keep their noise and keys to themselves, "+
				"even if the others pool all they know.",
				h.Trusted),
			l.Text("The promise holds as long as all of them keep their noise and keys to themselves: one that "+
				"reveals its noise weakens it."))
}

// holdersAssumptions lists what the guarantee of a release of several holders depends on and the release cannot show.
func holdersAssumptions(l *language.Language, g report.Guarantee) []string {
	h := g.Holders
	if h == nil {
		return nil
	}
	rows := words.Either(h.Overlap > 1,
		l.Text("The rows of one %s are with at most %d holders, as the holders have declared.", g.Protects, h.Overlap),
		l.Text("The rows of one %s are with one holder, as the holders have declared.", g.Protects))
	return []string{rows,
		l.Text("Each holder ran the program unchanged: it counted its own rows, drew its share of the noise, and " +
			"sent one share, masked for all holders of the plan."),
		l.Text("Each holder's account was debited by that holder. That it counts all releases from the same rows is " +
			"for its holder to see to."),
	}
}
