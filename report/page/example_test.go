package page_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/page"
)

// Show a report.json that somebody else made.
func Example() {
	text, err := os.ReadFile(filepath.Join("..", "testdata", "report.json"))
	if err != nil {
		panic(err)
	}
	r, err := report.Read(text)
	if err != nil {
		panic(err)
	}
	title, _, _ := bytes.Cut(page.Markdown(r), []byte("\n"))
	fmt.Println(string(title))
	html, err := page.HTML(r)
	if err != nil {
		panic(err)
	}
	doctype, _, _ := bytes.Cut(html, []byte("\n"))
	fmt.Println(string(doctype))
	// Output:
	// # Labour force, 2026q1
	// <!doctype html>
}
