package verdict

import (
	"fmt"
	"strings"

	"github.com/dprelease/dprelease/internal/screen"
)

// Unusable reports a file, a folder or a flag that somebody named and that cannot be used: a well-formed spec that
// cannot be planned, a plan that cannot be read, a folder that holds no release.
type Unusable struct {
	File string
	Err  error
}

// Error names the file once, even if the text of Err begins with its name.
func (e *Unusable) Error() string {
	said := e.Err.Error()
	if rest, named := strings.CutPrefix(said, e.File); named &&
		(strings.HasPrefix(rest, ": ") || strings.HasPrefix(rest, " ")) {
		return screen.Visible(e.File, "") + rest
	}
	return fmt.Sprintf("%s: %s", screen.Visible(e.File, ""), said)
}

func (e *Unusable) Unwrap() error { return e.Err }

// Verdict returns that what was named has to be corrected.
func (*Unusable) Verdict() Verdict {
	return Verdict{Exit: ExitSpec, Reason: SpecUnusable, Retry: Never}
}
