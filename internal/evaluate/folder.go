package evaluate

// This file holds where an output folder really lies.

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// truePath is the absolute path of a folder, by the folders' own names, as the system
// follows it: a .. behind a link leads to the parent of what is linked to. What is not
// there yet keeps its name, and is refused where a link or a .. stands in it.
func truePath(path string) (string, error) {
	var err error
	switch {
	case runtime.GOOS == "windows": // which takes a .. and the name before it away, as Abs does
		path, err = filepath.Abs(path)
	case !filepath.IsAbs(path):
		var here string
		here, err = os.Getwd()
		path = here + "/" + path // not cleaned, as Join would
	}
	if err != nil {
		return "", err
	}
	rest := ""
	for {
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		path = strings.TrimRight(path, string(filepath.Separator))
		parent, name := filepath.Split(path)
		if _, there := os.Lstat(path); there == nil {
			return "", fmt.Errorf("%s is a link to nothing", path)
		}
		if name == "" || name == ".." {
			return "", fmt.Errorf("%s is not there: write the path without it", parent)
		}
		path, rest = parent, filepath.Join(name, rest)
	}
}
