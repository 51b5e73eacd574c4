package main

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"testing"

	"github.com/dprelease/dprelease/internal/testkit"
)

// Coding the raw labels gives the coded file of the literature, row by row.
func TestPrepareGivesTheCodedFile(t *testing.T) {
	raw, err := os.Open(testkit.Data(t, "adult.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	want, err := os.ReadFile(testkit.Data(t, "adult14.csv"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(raw).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "adult.data")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := csv.NewWriter(f)
	for _, row := range rows[1:] {
		if err := w.Write(row[1:]); err != nil { // without the person_id that UCI does not have
			t.Fatal(err)
		}
	}
	w.Flush()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := prepare(&got, filepath.Join("..", "codebooks"), []string{path}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytes.ReplaceAll(got.Bytes(), []byte("\r"), nil), bytes.ReplaceAll(want, []byte("\r"), nil)) {
		t.Error("the coded file differs")
	}
}
