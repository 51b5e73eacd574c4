package histogram_test

import (
	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/scan"
)

func init() {
	histogram.FilesIn = func(dir string, workers int, memory int64) histogram.Counter {
		return scan.Files{Dir: dir, Options: scan.Options{Workers: workers, MemoryLimit: memory}}
	}
	histogram.MadeUpRows = func(rows int64) histogram.Counter { return scan.MadeUp{Rows: rows} }
}
