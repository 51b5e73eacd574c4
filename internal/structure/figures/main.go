// Command figures prints how the code is built, in numbers.
//
//	go run ./internal/structure/figures                      all figures of all packages
//	go run ./internal/structure/figures -package plan        figures of one package
//	go run ./internal/structure/figures -package plan -why   the files that reach each other, and what holds them together
//	go run ./internal/structure/figures -package plan -move diff.go,explain.go
//	                                                         what these files and the others use of each other
//
// It says of each figure how it is counted. Tests are not counted unless a figure says so, nor are files that are not built on
// this system. It reads source and changes nothing. docs/evidence/structure.txt keeps what it printed.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
)

func main() {
	dir := flag.String("C", ".", "the `folder` of the module")
	one := flag.String("package", "", "print the figures of this `package` only, such as plan/residual")
	why := flag.Bool("why", false, "list the files that reach each other and the references between them (with -package)")
	move := flag.String("move", "", "list what these `files` and the other files of the package use of each other (with -package)")
	flag.Parse()
	if err := run(*dir, *one, *why, *move); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(dir, one string, why bool, move string) error {
	pattern := "./..."
	if one != "" {
		pattern = "./" + strings.TrimPrefix(one, "./")
	} else if why || move != "" {
		return fmt.Errorf("-why and -move are of one package: name it by -package")
	}
	t, problems := load(dir, pattern)
	if t == nil || len(t.sources) == 0 {
		return problems
	}
	for _, s := range t.sources {
		switch g := t.references(s); {
		case move != "":
			if err := writeMove(os.Stdout, s, g, strings.Split(move, ",")); err != nil {
				return err
			}
		case why:
			writeWhy(os.Stdout, s, g)
		default:
			fmt.Printf("%-30s %3d files, %3d in cycle\n", s.path, len(s.names), len(g.cycle()))
		}
	}
	return problems
}
