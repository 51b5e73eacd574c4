package document

// This file holds the grouping of problems: one mistake in many places is told once, with the places.

import (
	"fmt"
	"strings"
)

// leastGrouped is how many problems of one kind are told as one.
const leastGrouped = 5

// kindOfProblem is what two problems have in common that are one mistake in two places.
type kindOfProblem struct{ file, message, expected, nearest, fix string }

func (p Problem) kind() kindOfProblem {
	return kindOfProblem{p.File, p.Message, p.Expected, p.Nearest, p.Fix}
}

// grouped renders problems in document order. Of each kind that occurs often the first is rendered in full, with the
// places of the others below it.
func grouped(problems []Problem) string {
	of := map[kindOfProblem][]Problem{}
	for _, p := range problems {
		of[p.kind()] = append(of[p.kind()], p)
	}
	var texts []string
	for _, p := range problems {
		switch alike := of[p.kind()]; {
		case len(alike) < leastGrouped:
			texts = append(texts, p.String())
		case alike[0] == p:
			texts = append(texts, p.String()+elsewhere(p, alike[1:]))
		}
	}
	return strings.Join(texts, "\n")
}

// elsewhere lists the places of problems that are like a first one, in lines of about the width of a page.
func elsewhere(first Problem, others []Problem) string {
	const width = 100
	var b strings.Builder
	fmt.Fprintf(&b, "\n  the same in %d other places:", len(others))
	line := width
	for i, p := range others {
		place := fmt.Sprintf("%d:%d", p.Line, p.Column)
		if name := differing(first.Path, p.Path); name != "" {
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

// differing is the one part in which a path differs from another, the whole path where they differ in more, and ""
// where they are equal.
func differing(from, path string) string {
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
