// Command figures prints figures about the structure of the code.
//
//	figures                                        all figures of all packages
//	figures -steps                                 how often each step of a small release does the same work
//	figures -package plan                          figures of one package
//	figures -package plan -why                     the files that reach each other, and what holds them together
//	figures -package plan -list                    the places that the figures count
//	figures -package plan -move diff.go,explain.go what these files and the others use of each other
//
// where figures stands for "go run ./internal/structure/figures".
//
// It prints with each figure how it is counted. Tests are not counted unless a figure says so, nor are files that are
// not built on this system. It reads source and changes nothing. docs/evidence/structure.txt keeps its output.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path"
	"strings"
)

func main() {
	var o options
	flag.StringVar(&o.dir, "C", ".", "the `folder` of the module")
	flag.StringVar(&o.one, "package", "", "print the figures of this `package` only, such as plan/residual")
	flag.BoolVar(&o.steps, "steps", false, "run a small release, and count how often each step does the same work")
	flag.BoolVar(&o.why, "why", false, "list the files that reach each other and their references (with -package)")
	flag.BoolVar(&o.list, "list", false, "list the places that the figures count (with -package)")
	flag.StringVar(&o.move, "move", "", "list what these `files` and the others use of each other (with -package)")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	dir, one, move string
	steps          bool
	why, list      bool
}

func run(o options) error {
	pattern := "./..."
	if o.one != "" {
		pattern = "./" + path.Clean(o.one)
		if o.steps {
			return errors.New("-steps is of the whole program: leave -package out")
		}
	} else if o.why || o.list || o.move != "" {
		return errors.New("-why, -list and -move are of one package: name it by -package")
	}
	t, problems := loadTree(o.dir, pattern)
	if t == nil || len(t.sources) == 0 {
		return problems
	}
	if o.steps {
		counted, err := t.countSteps(o.dir)
		if err != nil {
			return errors.Join(problems, err)
		}
		return errors.Join(problems, counted.write(os.Stdout))
	}
	s := t.sources[0]
	switch {
	case o.move != "":
		return errors.Join(problems, writeMove(os.Stdout, s, t.references(s), strings.Split(o.move, ",")))
	case o.why:
		writeWhy(os.Stdout, s, t.references(s))
	case o.list:
		t.writeList(os.Stdout, s)
	default:
		return errors.Join(problems, t.writeFigures(os.Stdout))
	}
	return problems
}
