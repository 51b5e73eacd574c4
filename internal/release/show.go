package release

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/dprelease/dprelease/report"
)

// ReadReport reads the report of a published folder. It does not check the folder;
// that is what [Verify] is for. Errors: *[SpecError].
func ReadReport(place string) (*report.Report, error) {
	path := filepath.Join(place, reportFile)
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, &SpecError{File: place, Err: errors.New("is not the folder of a release: it has no " + reportFile)}
	}
	if err != nil {
		return nil, &SpecError{File: path, Err: err}
	}
	r, err := report.Read(b)
	if err != nil {
		return nil, &SpecError{File: path, Err: err}
	}
	return r, nil
}
