package report_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/page"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A report of a version without bias and warnings is read, follows the schema, and has no section about them.
func TestOlderReportsAreRead(t *testing.T) {
	older, err := os.ReadFile(filepath.Join("testdata", "older.json"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := report.Read(older)
	if err != nil {
		t.Fatal(err)
	}
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(older))
	if err == nil {
		err = compiledSchema(t).Validate(instance)
	}
	if err != nil {
		t.Error(err)
	}
	for name, page := range map[string]string{"report.html": pageOf(t, r), "report.md": string(page.Markdown(r)),
		"terminal": string(page.Terminal(r, screen.Look{Columns: 80}, "labour-2026q1", true))} {
		if !strings.Contains(page, "Labour force") || strings.Contains(page, "apart from noise<") ||
			strings.Contains(page, "Bias, apart from noise") || strings.Contains(page, "How not to read") {
			t.Errorf("%s:\n%s", name, page)
		}
	}
}
