package published

import (
	"fmt"

	"github.com/dprelease/dprelease/plan"
)

// This file names the files of microdata within a release.

// MicrodataFile returns the slash-separated path of a table's microdata within a release, of the first file if there
// are several.
func MicrodataFile(s plan.Synthetic) string { return MicrodataFiles(s)[0] }

// MicrodataFiles returns the paths of all of a table's files: one, or one for each time that rows are drawn.
func MicrodataFiles(s plan.Synthetic) []string {
	if s.Drawn() == 1 {
		return []string{"microdata/" + s.Table + ".parquet"}
	}
	var all []string
	for i := range s.Drawn() {
		all = append(all, fmt.Sprintf("microdata/%s-%d.parquet", s.Table, i+1))
	}
	return all
}
