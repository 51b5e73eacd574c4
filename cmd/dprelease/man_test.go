package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cpuguy83/go-md2man/v2/md2man"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// This file makes the man pages, which are kept in docs/man: whoever packages the program installs them as they are,
// and the program itself is not built from what makes them.

// manPages is where the pages are kept.
var manPages = filepath.Join("..", "..", "docs", "man")

// exitRow is a row of the table of exit codes in docs/errors.md.
var exitRow = regexp.MustCompile(`(?m)^\| ([0-9]+(?:, [0-9]+)*) \| ([^|]+) \|`)

// exitCodes returns the exit codes with their meanings, from docs/errors.md.
func exitCodes(t *testing.T) [][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "errors.md"))
	if err != nil {
		t.Fatal(err)
	}
	table, _, _ := strings.Cut(string(text), "\n## ")
	return exitRow.FindAllStringSubmatch(table, -1)
}

// commonSections returns the sections of dprelease.1 that are about no command: exit status, files and environment.
func commonSections(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "man.md"))
	if err != nil {
		t.Fatal(err)
	}
	codes := ""
	for _, row := range exitCodes(t) {
		codes += fmt.Sprintf("%s\n: %s\n\n", row[1], row[2])
	}
	page := md2man.Render(bytes.Replace(text, []byte("EXIT\n\n"), []byte(codes), 1))
	_, sections, _ := bytes.Cut(page, []byte(".SH")) // what is before it is the title of a page
	return append([]byte(".SH"), sections...)
}

// pagesOf returns the pages of a command and of those below it, by their names. A page names the version of the
// program, and no day.
func pagesOf(t *testing.T, c *cobra.Command, pages map[string][]byte) {
	t.Helper()
	c.DisableAutoGenTag = true
	var page bytes.Buffer
	if err := doc.GenMan(c, &doc.GenManHeader{Date: &time.Time{}, Source: published.Software,
		Manual: "dprelease manual"},
		&page); err != nil {
		t.Fatal(err)
	}
	text := bytes.Replace(page.Bytes(), []byte(`"Jan 0001"`), []byte(`""`), 1)
	if !c.HasParent() {
		before, after, _ := bytes.Cut(text, []byte(".SH SEE ALSO"))
		text = slices.Concat(before, commonSections(t), []byte(".SH SEE ALSO"), after)
	}
	pages[strings.ReplaceAll(c.CommandPath(), " ", "-")+".1"] = text
	for _, child := range c.Commands() {
		if child.IsAvailableCommand() {
			pagesOf(t, child, pages)
		}
	}
}

// Every visible command has a page, which is what the texts of the command lead to, and there is no other page.
func TestManPages(t *testing.T) {
	pages := map[string][]byte{}
	pagesOf(t, (&app{}).rootCommand(), pages)
	if *updatePage {
		if err := os.RemoveAll(manPages); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(manPages, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range pages {
			if err := os.WriteFile(filepath.Join(manPages, name), text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	kept, err := filepath.Glob(filepath.Join(manPages, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range kept {
		if text, err := os.ReadFile(path); err != nil || !bytes.Equal(text, pages[filepath.Base(path)]) {
			t.Errorf("%s is not what its command says: run this test with -update (%v)", path, err)
		}
	}
	if len(kept) != len(pages) {
		t.Errorf("%d pages for %d commands: run this test with -update", len(kept), len(pages))
	}
	for _, c := range leafCommands((&app{}).rootCommand()) {
		text := string(pages[strings.ReplaceAll(c.CommandPath(), " ", "-")+".1"])
		for _, want := range []string{".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION"} {
			if !strings.Contains(text, want) {
				t.Errorf("the page of %s has no %s", c.CommandPath(), want)
			}
		}
	}
}

// The page of the program lists every exit code.
func TestManPageListsExitCodes(t *testing.T) {
	var listed []string
	for _, row := range exitCodes(t) {
		listed = append(listed, strings.Split(row[1], ", ")...)
	}
	var want []string
	for _, code := range []int{verdict.ExitDone, verdict.ExitEnvironment, verdict.ExitSpec, verdict.ExitBudget,
		verdict.ExitData, verdict.ExitVerify, verdict.ExitApproval, verdict.ExitName, verdict.ExitWithdrawn,
		verdict.ExitInterrupted, verdict.ExitTerminated} {
		want = append(want, strconv.Itoa(code))
	}
	if !slices.Equal(listed, want) {
		t.Errorf("docs/errors.md lists %v, want %v", listed, want)
	}
	page, err := os.ReadFile(filepath.Join(manPages, "dprelease.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range want {
		if !regexp.MustCompile(`(?m)^\.TP\n(\d+, )?` + code + `(, \d+)?$`).Match(page) {
			t.Errorf("dprelease.1 does not list exit code %s", code)
		}
	}
}

// The pages are set without a warning, where there is a program that sets them.
func TestManPagesAreSet(t *testing.T) {
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("there is no groff")
	}
	pages, err := filepath.Glob(filepath.Join(manPages, "*.1"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	for _, page := range pages {
		c := exec.Command(groff, "-k", "-t", "-man", "-ww", "-Tutf8", page)
		var said, set bytes.Buffer
		c.Stdout, c.Stderr = &set, &said
		if err := c.Run(); err != nil || said.Len() > 0 {
			t.Errorf("%s: %v, %s", page, err, &said)
		}
		if strings.Contains(set.String(), "**") || strings.Contains(set.String(), "```") {
			t.Errorf("%s shows marks of Markdown", page)
		}
	}
}
