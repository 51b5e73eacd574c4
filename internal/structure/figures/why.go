package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// writeWhy writes what holds the largest cycle of a package together: its files and its references, each with the size
// that the cycle would have without it.
func writeWhy(w io.Writer, s *source, g graph) {
	in := g.largestCycle()
	fmt.Fprintf(w, "%s: %d of %d files reach each other\n", s.path, len(in), len(s.names))
	if len(in) == 0 {
		return
	}
	var outside []string
	for _, name := range s.names {
		if !slices.Contains(in, name) {
			outside = append(outside, name)
		}
	}
	cyclic := g.without(outside, "", "")
	fmt.Fprintf(w, "\nFiles: the largest cycle without this file, how many files it refers to, how many refer to it\n")
	type line struct {
		left int
		text string
	}
	write := func(lines []line) {
		slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(a.left, b.left) })
		for _, l := range lines {
			fmt.Fprintln(w, l.text)
		}
	}
	var files []line
	for _, a := range in {
		left, referring := len(cyclic.without([]string{a}, "", "").largestCycle()), 0
		for _, targets := range cyclic {
			if len(targets[a]) > 0 {
				referring++
			}
		}
		files = append(files, line{left, fmt.Sprintf("%4d %4d %4d  %s", left, len(cyclic[a]), referring, a)})
	}
	write(files)
	fmt.Fprintf(w, "\nReferences: the largest cycle without this one, from, to, names and how often each is used\n")
	var edges []line
	for _, a := range in {
		for _, b := range slices.Sorted(maps.Keys(cyclic[a])) {
			left := len(cyclic.without(nil, a, b).largestCycle())
			edges = append(edges, line{left, fmt.Sprintf("%4d  %s -> %s: %s", left, a, b, namesText(cyclic[a][b]))})
		}
	}
	write(edges)
}

// namesText lists names with how often each is used, if that is more than once.
func namesText(names map[string]int) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if names[name] > 1 {
			name = fmt.Sprintf("%s×%d", name, names[name])
		}
		all = append(all, name)
	}
	return strings.Join(all, " ")
}

// writeMove writes what it takes to move some files of a package to a package of their own: the names that they use
// from the files that stay, and those that the files that stay use from them. A package can be cut there if one of the
// two lists is empty.
func writeMove(w io.Writer, s *source, g graph, files []string) error {
	for _, name := range files {
		if !slices.Contains(s.names, name) {
			return fmt.Errorf("%s has no file %s", s.path, name)
		}
	}
	list := func(title string, moved bool) {
		fmt.Fprintf(w, "%s:\n", title)
		for _, b := range s.names {
			if slices.Contains(files, b) == moved {
				continue
			}
			names, users := map[string]int{}, []string{}
			for _, a := range s.names {
				if slices.Contains(files, a) == moved && len(g[a][b]) > 0 {
					users = append(users, a)
					for name, n := range g[a][b] {
						names[name] += n
					}
				}
			}
			if len(names) > 0 {
				fmt.Fprintf(w, "  %s: %s (in %s)\n", b, namesText(names), strings.Join(users, " "))
			}
		}
	}
	list("What these files use of those that stay", true)
	list("What the files that stay use of these", false)
	stay := g.without(files, "", "")
	fmt.Fprintf(w, "Largest cycle: %d files today, %d in what stays\n", len(g.largestCycle()), len(stay.largestCycle()))
	return nil
}
