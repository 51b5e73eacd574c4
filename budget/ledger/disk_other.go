//go:build !unix

package ledger

import (
	"io/fs"
	"path/filepath"
	"strings"
)

// areOnOneDisk reports whether two folders lie on one volume.
func areOnOneDisk(folders []string, _ [2]fs.FileInfo) bool {
	return strings.EqualFold(filepath.VolumeName(folders[0]), filepath.VolumeName(folders[1]))
}
