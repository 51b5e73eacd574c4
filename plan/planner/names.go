package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/plan"
)

// This file checks the names of files. A name that is too long for a folder would otherwise only be found when the
// budget is spent.

// mostNameBytes is the longest name of a file or folder: the 255 bytes that file systems allow, minus the extension.
const mostNameBytes = 255 - len(".parquet")

// checkNames returns an error if a table or a measurement has a name that no file can have.
func checkNames(p *plan.Plan) error {
	for _, t := range p.Tables {
		if err := checkName("table", t.Path); err != nil {
			return err
		}
	}
	for _, m := range p.Measurements {
		if err := checkName("measurement", m.ID); err != nil {
			return err
		}
	}
	for _, s := range p.Synthetic {
		if err := checkName("the microdata of", s.Table); err != nil {
			return err
		}
		if err := checkName("a round of the microdata of "+s.Table+":", longestRound(s)); err != nil {
			return err
		}
	}
	for _, m := range p.AllModels() {
		if err := checkName("model", m.File()); err != nil {
			return err
		}
	}
	return nil
}

// longestRound returns the longest name that the answer of a round may have.
func longestRound(s plan.Synthetic) string {
	var names []string
	for _, f := range s.By {
		names = append(names, f.String())
	}
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) })
	return strings.Join(names[:min(s.Ways, len(names))], "_x_")
}

func checkName(what, path string) error {
	for part := range strings.SplitSeq(path, "/") {
		if len(part) > mostNameBytes {
			return fmt.Errorf("%s %s needs a file name of %d bytes, and %d is the most: give its columns and levels "+
				"shorter names", what, path, len(part), mostNameBytes)
		}
	}
	return nil
}
