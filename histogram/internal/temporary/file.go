// Package temporary holds files for what does not fit into memory: only their owner can read them, they have no name
// where the system allows that, and each has a fresh key, under which all that is written is enciphered. The key is in
// this process's memory alone, so nothing that a killed process leaves behind can be read.
package temporary

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
)

// File is an open temporary file, of mode 0600 in a folder of mode 0700. What is written to it must be enciphered
// with Block.
type File struct {
	*os.File
	Block  cipher.Block // AES-256 under the file's own key
	folder string       // to be removed; empty if folder and file are unlinked already
}

// Create makes a file below a folder, by default the system's folder for temporary files. If an open file can be
// unlinked, file and folder are unlinked at once, and not even a killed process leaves them behind; on other systems
// Close removes them. Errors are those of the system.
func Create(dir string) (*File, error) {
	var key [32]byte
	rand.Read(key[:]) // ends the process if the system has no random bytes
	block, err := aes.NewCipher(key[:])
	clear(key[:])
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp(dir, "dprelease-") // mode 0700
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(folder, "rows"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, errors.Join(err, os.Remove(folder))
	}
	f := &File{File: file, Block: block, folder: folder}
	if os.Remove(file.Name()) == nil && os.Remove(folder) == nil {
		f.folder = ""
	}
	return f, nil
}

// Close closes the file and removes it.
func (f *File) Close() error {
	err := f.File.Close()
	if f.folder != "" {
		err = errors.Join(err, os.RemoveAll(f.folder))
	}
	return err
}
