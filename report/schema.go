package report

// This file holds the JSON Schema of report.json.

import (
	_ "embed"
	"slices"
)

//go:embed schema.json
var schemaText []byte

// Schema returns the JSON Schema (draft 2020-12) of report.json.
func Schema() []byte { return slices.Clone(schemaText) }
