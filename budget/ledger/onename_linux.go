package ledger

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// isMountPoint reports whether something is mounted at exactly this path, free of symbolic links.
func isMountPoint(path string) (bool, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && mountedAt(string(mounts), path), err
}

// mountedAt reports whether the lines of proc_pid_mountinfo(5) mount something at the path: "36 35 98:0 /root /point
// …".
func mountedAt(mounts, path string) bool {
	for mount := range strings.Lines(mounts) {
		if fields := strings.Fields(mount); len(fields) > 4 && unescapeMountPoint(fields[4]) == path {
			return true
		}
	}
	return false
}

// unescapeMountPoint decodes the octal escapes, such as \040 for a space, in a mount point.
func unescapeMountPoint(field string) string {
	var out strings.Builder
	for i := 0; i < len(field); i++ {
		if field[i] == '\\' && i+3 < len(field) {
			if code, err := strconv.ParseUint(field[i+1:i+4], 8, 8); err == nil {
				out.WriteByte(byte(code))
				i += 3
				continue
			}
		}
		out.WriteByte(field[i])
	}
	return out.String()
}
