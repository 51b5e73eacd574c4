package published

import (
	"fmt"

	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/internal/verdict"
)

// Altered reports a file of a published folder that is not what it should be. Says is what is wrong with it, "" if the
// file is not what its measurements lead to.
type Altered struct{ Folder, File, Says string }

func (e *Altered) Error() string {
	if e.Says == "" {
		return fmt.Sprintf("%s: %s is not what the measurements lead to: the folder was changed after it was "+
			"published; move it away and publish again", screen.Quoted(e.Folder), screen.Quoted(e.File))
	}
	return fmt.Sprintf("%s: %s %s; use nothing from this folder: `dprelease verify` says more, and its publisher has "+
		"the folder as it was", screen.Quoted(e.Folder), screen.Quoted(e.File), screen.Visible(e.Says, ""))
}

// Verdict returns that the folder must not be used.
func (*Altered) Verdict() verdict.Verdict {
	return verdict.Verdict{Exit: verdict.ExitVerify, Reason: verdict.ReleaseAltered, Retry: verdict.Never}
}
