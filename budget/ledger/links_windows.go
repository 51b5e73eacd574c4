package ledger

import (
	"io/fs"

	"golang.org/x/sys/windows"
)

// linksTo returns the number of names of the file at path.
func linksTo(path string, _ fs.FileInfo) (uint64, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, err
	}
	const anyUse = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	handle, err := windows.CreateFile(name, windows.FILE_READ_ATTRIBUTES, anyUse, nil, windows.OPEN_EXISTING, 0, 0)
	if err != nil {
		return 0, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer windows.CloseHandle(handle)
	var of windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(handle, &of); err != nil {
		return 0, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return uint64(of.NumberOfLinks), nil
}
