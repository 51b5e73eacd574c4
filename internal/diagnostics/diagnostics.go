// Package diagnostics writes what was wrong with refused data, values included, to a confidential file, so that no
// error and no log line needs to say it. It reads no data itself.
package diagnostics

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/spec/files"
)

// File is the name of the file, which its owner alone can read.
const File = "diagnostics.txt"

// making begins its name while it is written.
const making = "diagnostics.making-"

// DataError is an error in confidential data whose details were written to a confidential file.
type DataError struct {
	File string // its path
	Err  error
}

func (e *DataError) Error() string { return e.Err.Error() }
func (e *DataError) Unwrap() error { return e.Err }

// Hint is the advice that goes with an error beyond its own words, or empty.
func Hint(err error) string {
	if written, ok := errors.AsType[*DataError](err); ok {
		return "where, and with which values: " + written.File + " (confidential)"
	}
	return ""
}

// Write writes the confidential details of a data error to a file in a folder that only its owner can enter, and
// returns the error as a *[DataError]; another error is returned as it is.
func Write(dir string, cause error) error {
	var details func(io.Writer) error
	if contract, ok := errors.AsType[*scan.ContractError](cause); ok {
		details = contract.WriteDiagnostics
	} else if input, ok := errors.AsType[*source.Error](cause); ok && input.Detail != "" {
		details = func(w io.Writer) error {
			_, err := io.WriteString(w, input.Diagnostics()+"\n")
			return err
		}
	} else {
		return cause
	}
	if err := durable.WritePrivate(dir, making, File, details); err != nil {
		return errors.Join(cause, fmt.Errorf("state directory: %w", err))
	}
	return &DataError{File: filepath.Join(dir, File), Err: cause}
}

// Remove removes the file from a folder, and what runs that were killed have left of it.
func Remove(dir string) error {
	left, err := files.Glob(dir, making+"*")
	for _, path := range append(left, filepath.Join(dir, File)) {
		if gone := os.Remove(path); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	if err != nil {
		return err
	}
	return durable.SyncDir(dir)
}
