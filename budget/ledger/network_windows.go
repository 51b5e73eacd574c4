package ledger

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// networkOf returns the network drive that path lies on, and "" for a local drive.
func networkOf(path string) (string, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(absolute); err == nil {
		absolute = real
	}
	name, err := windows.UTF16PtrFromString(absolute)
	if err != nil {
		return "", err
	}
	volume := make([]uint16, windows.MAX_LONG_PATH)
	if err := windows.GetVolumePathName(name, &volume[0], uint32(len(volume))); err != nil {
		return "", err
	}
	if windows.GetDriveType(&volume[0]) != windows.DRIVE_REMOTE {
		return "", nil
	}
	return "network drive " + windows.UTF16ToString(volume), nil
}
