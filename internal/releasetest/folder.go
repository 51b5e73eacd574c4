package releasetest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/budget/sign"
	"github.com/dprelease/dprelease/internal/canonical"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/parquet-go/parquet-go"
)

// Figures returns columns of a published table, row by row, as texts.
func Figures(t *testing.T, place, path string, columns ...string) [][]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(place, "tables", filepath.FromSlash(path)+".parquet"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	err = published.EachRow(f, func(r parquet.Row) error {
		var row []string
		for _, name := range columns {
			leaf, found := f.Schema().Lookup(name)
			if !found {
				t.Fatalf("%s has no column %s", path, name)
			}
			row = append(row, r[leaf.ColumnIndex].String())
		}
		out = append(out, row)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Contents returns the contents of the files below a folder by their paths.
func Contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	names, err := published.Files(dir)
	if err != nil || len(names) < 5 {
		t.Fatalf("%v in %s: %v", names, dir, err)
	}
	all := map[string]string{}
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(b)
	}
	return all
}

// Relist updates the line of a file in a manifest to the file's content, and removes the manifest's signature.
func Relist(t *testing.T, dir, name string, content []byte) {
	t.Helper()
	m, err := published.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	if i := slices.IndexFunc(m.Files, func(l published.Line) bool { return l.Path == name }); i >= 0 {
		m.Files[i] = lineOf(name, content)
	} else {
		m.Files = append(m.Files, lineOf(name, content))
	}
	inOrder := func(path string) string { return strings.ReplaceAll(path, "/", "\x00") }
	slices.SortFunc(m.Files, func(a, b published.Line) int { return strings.Compare(inOrder(a.Path), inOrder(b.Path)) })
	writeManifest(t, dir, m)
}

// Remanifest puts files into a published folder of a plan, and writes an unsigned manifest of what the folder then
// holds; m says which publication it is.
func Remanifest(t *testing.T, dir string, p *compiled.Compiled, record ledger.Record, m published.Manifest,
	more map[string][]byte) {
	t.Helper()
	for name, text := range more {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, text, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{published.ManifestFile, published.SignatureFile} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	names, err := published.Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	m.Format, m.Release, m.Status, m.PlanHash, m.Software, m.Head = published.ManifestFormat, p.Name,
		published.StatusText(record.Status), p.Hash(), published.Software, record.Proof.Hash
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		m.Files = append(m.Files, lineOf(name, b))
	}
	writeManifest(t, dir, m)
}

// lineOf returns the line of a file in a manifest.
func lineOf(name string, content []byte) published.Line {
	sum := sha256.Sum256(content)
	return published.Line{Path: name, Bytes: int64(len(content)), SHA256: hex.EncodeToString(sum[:])}
}

// writeManifest writes an unsigned manifest.
func writeManifest(t *testing.T, dir string, m published.Manifest) {
	t.Helper()
	text, err := canonical.Indented(m)
	if err == nil {
		err = errors.Join(os.WriteFile(filepath.Join(dir, published.ManifestFile), text, 0o644),
			os.RemoveAll(filepath.Join(dir, published.SignatureFile)))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// SignManifest signs the manifest of a published folder with a key.
func SignManifest(t *testing.T, dir string, key sign.Key) {
	t.Helper()
	text, err := published.ReadFile(filepath.Join(dir, published.ManifestFile))
	if err != nil {
		t.Fatal(err)
	}
	b, err := published.Sign(text, key)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, published.SignatureFile), b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Altered returns a Parquet file with its rows changed one by one by a function.
func Altered(t *testing.T, file []byte, change func(row int, r parquet.Row)) []byte {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	options := []parquet.WriterOption{f.Schema()}
	for _, kv := range f.Metadata().KeyValueMetadata {
		options = append(options, parquet.KeyValueMetadata(kv.Key, kv.Value))
	}
	var b bytes.Buffer
	w, row := parquet.NewGenericWriter[any](&b, options...), 0
	err = published.EachRow(f, func(r parquet.Row) error {
		change(row, r)
		row++
		_, err := w.WriteRows([]parquet.Row{r})
		return err
	})
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Row returns one row of a published table and the indices of its columns by name.
func Row(path string, at int64) (parquet.Row, map[string]int, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, nil, err
	}
	return published.ReadRow(f, at)
}

func Integers(values []int64) *array.Int64 {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(values, nil)
	return b.NewInt64Array()
}

// Record returns the record that a release was published with.
func Record(t *testing.T, place string) ledger.Record {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(place, published.ProofFile))
	var r ledger.Record
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Rehashed sets the hash of the entry in a record to that of its content, and removes the signature.
func Rehashed(t *testing.T, r *ledger.Record) {
	t.Helper()
	p := &r.Proof
	previous, err := hex.DecodeString(p.Previous)
	if err != nil {
		t.Fatal(err)
	}
	private, err := hex.DecodeString(p.Sealed)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(slices.Concat(previous, private, []byte(p.Body)))
	p.Hash, p.Signature, p.Office = hex.EncodeToString(sum[:]), "", sign.PublicKey{}
}
