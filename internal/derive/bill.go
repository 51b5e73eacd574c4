package derive

// This file holds the bill of materials: the modules from which the program is built, with their checksums.

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/internal/canonical"
	"github.com/dprelease/dprelease/report"
)

// moduleLines lists the modules of every system for which the program is built, so that one source publishes one list
// on every machine: a line each of path, version and checksum as in go.sum.
//
//go:embed modules.txt
var moduleLines string

// Modules returns the modules of this program: the list of its source and, where the build differs from that, what the
// build used.
func Modules() []report.Module {
	var all []report.Module
	for line := range strings.Lines(moduleLines) {
		if f := strings.Fields(line); len(f) == 3 {
			all = append(all, report.Module{Path: f[0], Version: f[1], Sum: f[2]})
		}
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return all
	}
	for _, d := range info.Deps {
		used := report.Module{Path: d.Path, Version: d.Version, Sum: d.Sum}
		if r := d.Replace; r != nil {
			used.Version, used.Sum = strings.TrimSpace("replaced: "+r.Version), r.Sum
		}
		i, listed := slices.BinarySearchFunc(all, used.Path,
			func(m report.Module, path string) int { return strings.Compare(m.Path, path) })
		if listed {
			all[i] = used
		} else {
			all = slices.Insert(all, i, used)
		}
	}
	return all
}

// bill is a bill of materials in the format of CycloneDX 1.6.
type bill struct {
	Format      string `json:"bomFormat"`
	SpecVersion string `json:"specVersion"`
	Version     int    `json:"version"`
	Metadata    struct {
		Component billComponent `json:"component"`
	} `json:"metadata"`
	Components []billComponent `json:"components"`
}

type billComponent struct {
	Type       string         `json:"type"`
	Ref        string         `json:"bom-ref"`
	Name       string         `json:"name"`
	Version    string         `json:"version"`
	URL        string         `json:"purl"`
	Properties []billProperty `json:"properties,omitempty"`
}

type billProperty struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// sumProperty is the property that holds a module's checksum as in go.sum, which covers a list of the module's files,
// not an archive.
const sumProperty = "go.sum"

// encodeBill returns the bill of materials of a program, "name version", built from these modules.
func encodeBill(software string, modules []report.Module) ([]byte, error) {
	name, version, _ := strings.Cut(software, " ")
	b := bill{Format: "CycloneDX", SpecVersion: "1.6", Version: 1, Components: []billComponent{}}
	address := packageURL("github.com/dprelease/"+name, version)
	b.Metadata.Component = billComponent{Type: "application", Ref: address, Name: name, Version: version, URL: address}
	for _, m := range modules {
		address := packageURL(m.Path, m.Version)
		b.Components = append(b.Components, billComponent{
			Type: "library", Ref: address, Name: m.Path, Version: m.Version, URL: address,
			Properties: []billProperty{{sumProperty, m.Sum}},
		})
	}
	return canonical.Indented(b)
}

// packageURL returns the URL by which scanners identify a Go module.
func packageURL(path, version string) string {
	return "pkg:golang/" + path + "@" + url.QueryEscape(version)
}

// ReadBill reads exactly what encodeBill writes for this software.
func ReadBill(text []byte, software string) ([]report.Module, error) {
	var b bill
	if err := json.Unmarshal(text, &b); err != nil {
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	var all []report.Module
	for _, c := range b.Components {
		if len(c.Properties) != 1 {
			return nil, errors.New("a module in it has no checksum")
		}
		all = append(all, report.Module{Path: c.Name, Version: c.Version, Sum: c.Properties[0].Value})
	}
	if again, err := encodeBill(software, all); err != nil || !bytes.Equal(again, text) {
		return nil, fmt.Errorf("it is not the bill of materials that %s writes", software)
	}
	return all, nil
}
