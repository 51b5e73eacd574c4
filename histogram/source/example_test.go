package source_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/files"
)

// Read two columns of every CSV file in a folder.
func Example() {
	dir, err := os.MkdirTemp("", "survey")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "a.csv"), []byte("id,age,sex\n1,40,f\n2,,m\n"), 0o600); err != nil {
		panic(err)
	}
	ctx := context.Background()
	table := &spec.Table{Source: spec.TableSource{Format: files.CSV, Paths: []string{"*.csv"}, Delimiter: ',',
		Nulls: []string{""}}}
	rows, err := source.Open(ctx, source.Data{Dir: dir}, table, []source.Column{{Name: "sex"}, {Name: "age"}})
	if err != nil {
		panic(err)
	}
	defer rows.Close()
	piece, err := rows.Next(ctx)
	if err != nil {
		panic(err)
	}
	err = piece.Read(ctx, &source.Buffers{}, 1000, func(b *source.Batch) error {
		fmt.Println(b.Rows, b.Columns[0], b.Columns[1])
		return nil
	})
	if err != nil {
		panic(err)
	}
	_, err = source.Open(ctx, source.Data{Dir: dir}, table, []source.Column{{Name: "sax"}})
	fmt.Println(err.(*source.Error).Message)
	// Output:
	// 2 ["f" "m"] ["40" (null)]
	// the file has no column of that name; one is spelled nearly so: correct the name in `from:` or in the unit's `id:`; its first line has the names (head -1 FILE)
}
