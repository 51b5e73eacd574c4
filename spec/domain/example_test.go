package domain_test

import (
	"fmt"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/domain"
)

// Read what a spec declares of a column, and look up which cell a raw value falls into.
func Example() {
	findings := document.NewFindings("column.yaml",
		"{type: integer, range: [0, 110], levels: {band: {edges: [0, 16, 65]}}}")
	column, _ := findings.Read("a column", "one column")
	declared := domain.NewReader(findings, nil, nil).Read(column)
	band, _ := declared.Domain.Level("band")
	code, fit := declared.Domain.CodeOfText("64")
	fmt.Println(code, fit, band.Categories[band.Category(code)].Code)
	_, fit = declared.Domain.CodeOfText("111")
	fmt.Println(fit)
	// Output:
	// 64 in its domain 16–64
	// outside its domain
}
