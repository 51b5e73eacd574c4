package document

// This file groups problems: a mistake that occurs in many places is reported once, with all the places.

import (
	"fmt"
	"strings"
)

// leastGrouped is the number of problems of one kind from which on they are reported as one.
const leastGrouped = 5

// kindOfProblem is what two problems share that are the same mistake in two places.
type kindOfProblem struct{ file, message, expected, nearest, fix string }

func (p Problem) kindOf() kindOfProblem {
	return kindOfProblem{p.File, p.Message, p.Expected, p.Nearest, p.Fix}
}

// groupProblems renders problems in document order. Of each kind that occurs often, it renders the first in full,
// followed by the places of the others.
func groupProblems(problems []Problem) string {
	byKind := map[kindOfProblem][]Problem{}
	for _, p := range problems {
		byKind[p.kindOf()] = append(byKind[p.kindOf()], p)
	}
	var texts []string
	for _, p := range problems {
		switch sameKind := byKind[p.kindOf()]; {
		case len(sameKind) < leastGrouped:
			texts = append(texts, p.String())
		case sameKind[0] == p:
			texts = append(texts, p.String()+otherPlaces(p, sameKind[1:]))
		}
	}
	return strings.Join(texts, "\n")
}

// otherPlaces lists the places of problems of the same kind as the first, in lines of about the width of a page.
func otherPlaces(first Problem, others []Problem) string {
	const width = 100
	var b strings.Builder
	fmt.Fprintf(&b, "\n  the same in %d other places:", len(others))
	line := width
	for i, p := range others {
		place := fmt.Sprintf("%d:%d", p.Line, p.Column)
		if name := differingPart(first.Path, p.Path); name != "" {
			place += " (" + name + ")"
		}
		if i < len(others)-1 {
			place += ","
		}
		if line += 1 + len([]rune(place)); line > width {
			b.WriteString("\n   ")
			line = 4 + len([]rune(place))
		}
		b.WriteString(" " + place)
	}
	return b.String()
}

// differingPart returns the one part in which path differs from another path: the whole path if several parts differ,
// "" if the paths are equal.
func differingPart(from, path string) string {
	a, b := strings.Split(from, "."), strings.Split(path, ".")
	if len(a) != len(b) {
		return path
	}
	name := ""
	for i := range a {
		switch {
		case a[i] == b[i]:
		case name != "":
			return path
		default:
			name = b[i]
		}
	}
	return name
}
