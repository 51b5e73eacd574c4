package evaluate

// This file resolves the path of an output folder.

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// resolvePath returns the absolute path of a folder without links, as the system follows it: a .. after a link leads
// to the parent of the link's target. The part of the path that does not exist yet keeps its names; it must have no
// link or "..".
func resolvePath(path string) (string, error) {
	var err error
	switch {
	case runtime.GOOS == "windows": // removes a .. and the name before it, as Abs does
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
