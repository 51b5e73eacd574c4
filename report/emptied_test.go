package report_test

// This file tests reports that somebody has emptied in part: either they are refused, or every page of them can be
// made.

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/page"
)

// TestEmptiedReports empties every list of a report, and removes every optional value, one at a time.
func TestEmptiedReports(t *testing.T) {
	for _, name := range []string{"report.json", "figures.json", "microdata.json", "older.json"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		whole, err := report.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		tried := 0
		emptied(reflect.ValueOf(whole).Elem(), name, func(what string) {
			tried++
			r, err := report.Read(whole.JSON())
			if err != nil {
				return
			}
			for page, make := range map[string]func(){
				"terminal": func() { page.Terminal(r, screen.Look{Columns: 80}, "labour-2026q1", true) },
				"md":       func() { page.Markdown(r) },
				"registry": func() { r.Registry().JSON() },
				"text":     func() { page.Readme(r) },
			} {
				if place := panicOf(make); place != "" {
					t.Errorf("%s is read without %s, and then %s", what, page, place)
				}
			}
		})
		if tried < 100 {
			t.Errorf("%s: %d lists and values were emptied", name, tried)
		}
	}
}

// emptied calls do once for every slice, map and pointer below a value, with that one empty.
func emptied(v reflect.Value, name string, do func(what string)) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			emptied(v.Field(i), name+"."+v.Type().Field(i).Name, do)
		}
		return
	case reflect.Slice, reflect.Map, reflect.Pointer:
	default:
		return
	}
	if !v.CanSet() || v.IsNil() {
		return
	}
	whole := reflect.New(v.Type()).Elem()
	whole.Set(v)
	v.SetZero()
	do(name)
	if v.Kind() == reflect.Slice {
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		do(name + " (empty)")
	}
	v.Set(whole)
	switch v.Kind() {
	case reflect.Slice:
		for i := range min(v.Len(), 3) {
			emptied(v.Index(i), fmt.Sprintf("%s[%d]", name, i), do)
		}
	case reflect.Pointer:
		emptied(v.Elem(), name, do)
	}
}

// panicOf calls a function and returns what it panicked with, "" for nothing.
func panicOf(do func()) (says string) {
	defer func() {
		if r := recover(); r != nil {
			says = fmt.Sprint(r)
		}
	}()
	do()
	return ""
}
