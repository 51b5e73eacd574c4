package fitting_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan/internal/plantest"
)

// TestFittingOrder: single columns first, level by level, tables with impossible cells before them; then tables of more
// attributes, on all that they share with those before. What lies within a table is none of its own.
func TestFittingOrder(t *testing.T) {
	for name, c := range map[string]struct {
		rest string
		by   []string
		want []string
	}{
		"pairs": {"", []string{"b, c", "c, d", "d, b"},
			[]string{" on ", "b on ", "c on ", "d on ", "b×c on b, c", "c×d on c, d", "b×d on b, d"}},
		"levels": {"", []string{"a.third, b", "a, b", "a.sixth"},
			[]string{" on ", "a.third on ", "a.sixth on a.third", "a on a.sixth", "b on ", "a.third×b on a.third, b",
				"a×b on a, a.third×b"}},
		"levels apart": {"", []string{"a.half, b", "a.third, b"},
			[]string{" on ", "a.half on ", "a.third on ", "b on ", "a.half×b on a.half, b", "a.third×b on a.third, b"}},
		"a tree": {"", []string{"b, c", "b, c, d", "d, e, f", "e, a"},
			[]string{" on ", "b on ", "c on ", "d on ", "e on ", "f on ", "a on ", "b×c×d on b, c, d",
				"d×e×f on d, e, f",
				"e×a on e, a"}},
		"three of which two at a time share two": {"", []string{"b, c, d", "c, d, e", "b, c, e"},
			[]string{" on ", "b on ", "c on ", "d on ", "e on ", "b×c×d on b, c, d", "c×d×e on c×d, e",
				"b×c×e on b×c, c×e"}},
		"a circle of single columns": {"", []string{"b, c, d", "d, e, f", "f, a, b"},
			[]string{" on ", "b on ", "c on ", "d on ", "e on ", "f on ", "a on ", "b×c×d on b, c, d",
				"d×e×f on d, e, f",
				"b×f×a on b, f, a"}},
		"a pair between": {"", []string{"b, c, d", "c, d, e"},
			[]string{" on ", "b on ", "c on ", "d on ", "e on ", "b×c×d on b, c, d", "c×d×e on c×d, e"}},
		"impossible": {"impossible: [{where: {b: x, c: p}}]\n",
			[]string{"b, c", "c, d", "a, b, c"}, []string{" on ", "b×c×a on ", "d on ", "c×d on c, d"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, steps, err := plantest.Fitted(t, c.rest, c.by...)
			if err != nil {
				t.Fatal(err)
			}
			if name == "levels apart" != (p.Consistent[0].UnnestedColumns != nil) || name == "levels apart" &&
				p.Consistent[0].UnnestedColumns[0] != "a.half, apart from a.third" {
				t.Errorf("levels apart: %q", p.Consistent[0].UnnestedColumns)
			}
			if !slices.Equal(steps, c.want) {
				t.Errorf("%q, expected %q", steps, c.want)
			}
		})
	}
}

// TestFittingRefusals: what no order keeps, and what nothing can be, is refused where it stands.
func TestFittingRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		rest string
		by   []string
		want []string
	}{
		"a circle": {"", []string{"b, c, d", "c, d, e", "b, c, e", "b, d, e"},
			[]string{"release.yaml", "m", "overlaps others in a cycle", "synthetic"}},
		"a circle with impossible cells": {
			"impossible: [{where: {b: x, c: p}}, {where: {c: p, d: k}}, {where: {d: k, b: x}}]\n",
			[]string{"b, c", "c, d", "d, b"},
			[]string{"has impossible cells, and so have others with which it overlaps in a cycle"}},
		"nothing is left": {"impossible: [{where: {b: [x, y], c: p}}, {where: {b: z, c: q}}, {where: {c: q, d: k}}, " +
			"{where: {c: q, d: l}}, {where: {b: z, e: [k, l, m]}}]\n", []string{"b, c", "c, d", "b, e"},
			[]string{"leaves no cell of table"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, steps, err := plantest.Fitted(t, c.rest, c.by...)
			if err == nil {
				t.Fatalf("%q of %d tables", steps, len(p.Tables))
			}
			for _, says := range c.want {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("%v does not say %q", err, says)
				}
			}
		})
	}
}
