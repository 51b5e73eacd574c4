package published

import (
	"fmt"

	"github.com/dprelease/dprelease/plan"
)

// This file holds where microdata are within a release.

// MicrodataFile is where a table's microdata are within a release, slash-separated: the first of several files.
func MicrodataFile(s plan.Synthetic) string { return MicrodataFiles(s)[0] }

// MicrodataFiles are all of them: one, or one for each time that rows are drawn.
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
