package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// The file beside the generator is what it writes.
func TestSurveyIsTheCommittedFile(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the generator's floating point is the same on amd64 only")
	}
	want, err := os.ReadFile(filepath.Join("..", "data", "lfs-2026q1.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := survey(rand.New(rand.NewPCG(2026, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("generate and the committed file differ: run the generator again")
	}
	if len(want) > 2<<20 {
		t.Errorf("the file has %d bytes, more than 2 MB", len(want))
	}
}
