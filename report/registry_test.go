package report_test

// This file tests that the registry entry agrees with the report, and that its page documents every field.

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/report"
)

func TestRegistryEntrySaysWhatTheReportSays(t *testing.T) {
	for name, r := range reports() {
		t.Run(name, func(t *testing.T) {
			e, hazards := r.Registry(), 20
			if r.Bounds != nil && len(r.Bounds.Weights) > 0 {
				hazards += 2 // for weights
			}
			if e.Status != r.Status || e.Date != "2026-03-01" || e.Protected.Noun != "person" ||
				e.Guarantee.Definition == "" ||
				e.Guarantee.Statement != r.Guarantee.Statement {
				t.Errorf("%+v", e)
			}
			if e.Data.Numbers == 0 || len(e.Data.Attributes) == 0 || len(e.Hazards) != hazards ||
				e.Account.Name != "lfs-panel" || len(e.Mechanisms) == 0 {
				t.Errorf("%+v", e)
			}
		})
	}
	text := string(reportOf(t, input(report.Official, nil)).Registry().JSON())
	for _, want := range []string{`"epsilon": "2"`, `"contact": "statistics office"`, `"neighbours": "add-remove"`,
		`"url": ""`, `"kind": "discrete-laplace"`, `"role": "methodologist"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the entry does not hold %s:\n%s", want, text)
		}
	}
}

func TestRegistryPageDocumentsEveryField(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "registry.md"))
	if err != nil {
		t.Fatal(err)
	}
	documented(t, string(page), "", reflect.TypeFor[report.Registry]())
}

// documented fails unless a page names every field of a type, qualified by the names of the fields around it.
func documented(t *testing.T, page, path string, typ reflect.Type) {
	t.Helper()
	for typ.Kind() == reflect.Slice || typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if typ.Kind() != reflect.Struct {
		return
	}
	for i := range typ.NumField() {
		name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		full := strings.TrimPrefix(path+"."+name, ".")
		if !strings.Contains(page, "| `"+full+"` |") {
			t.Errorf("docs/registry.md does not document %s", full)
		}
		documented(t, page, full, typ.Field(i).Type)
	}
}
