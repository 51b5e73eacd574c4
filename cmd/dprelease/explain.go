package main

import (
	"fmt"
	"strings"

	"github.com/dprelease/dprelease/docs"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/spec/document"
	"github.com/spf13/cobra"
)

func (a *app) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain [TERM]",
		Short: "Explain a word of plans, reports and messages",
		Long: `Print what a word of specs, plans, reports and messages means, in plain words first.
Without a word, list all words. docs/glossary.md has the same as a page.

  dprelease explain margin
  dprelease explain standard error
  dprelease explain ρ`,
		ValidArgsFunction: func(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return termsThatBegin(begun), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			terms := docs.Terms()
			if len(args) == 0 {
				a.outcome.Terms = terms
				for _, t := range terms {
					a.say("%s", inOneLine(t))
				}
				return nil
			}
			t, err := termCalled(terms, strings.Join(args, " "))
			if err != nil {
				return err
			}
			a.outcome.Terms = []docs.Term{t}
			if a.json {
				return nil
			}
			p := screen.NewPage(lookOf(a.stdout))
			p.Paragraph(inOneLine(t), screen.Strong)
			for _, paragraph := range strings.Split(t.Text, "\n\n") {
				p.Paragraph(paragraph, screen.Plain)
			}
			_, err = a.stdout.Write(p.Bytes())
			return err
		},
	}
}

// inOneLine returns all words for a term, such as "Epsilon (ε)".
func inOneLine(t docs.Term) string {
	if len(t.Also) == 0 {
		return t.Name
	}
	return fmt.Sprintf("%s (%s)", t.Name, strings.Join(t.Also, ", "))
}

// termsThatBegin returns the terms, each as one word, whose names begin like a text.
func termsThatBegin(begun string) []string {
	var all []string
	for _, t := range docs.Terms() {
		if strings.HasPrefix(t.Anchor, strings.ToLower(begun)) {
			all = append(all, t.Anchor)
		}
	}
	return all
}

// plainWord returns a word in small letters, with blanks for hyphens and without the ending of a plural.
func plainWord(word string) string {
	word = strings.ReplaceAll(strings.ToLower(word), "-", " ")
	return strings.TrimSuffix(strings.TrimSuffix(word, "s"), "ie")
}

// termCalled returns the term that a word stands for, whatever its capitals. A hyphen may stand for a blank, a plural
// for its singular, and the beginning of a term for the only term that begins with these words.
func termCalled(terms []docs.Term, word string) (docs.Term, error) {
	var known []string
	for _, t := range terms {
		for _, name := range t.Names() {
			if strings.EqualFold(name, word) || strings.EqualFold(t.Anchor, word) {
				return t, nil
			}
			known = append(known, strings.ToLower(name))
		}
	}
	var near []docs.Term
	for _, t := range terms {
		for _, name := range t.Names() {
			if plainWord(name) == plainWord(word) || plainWord(name) == plainWord(word)+"y" {
				return t, nil
			}
		}
		if strings.HasPrefix(plainWord(t.Name), plainWord(word)+" ") {
			near = append(near, t)
		}
	}
	if len(near) == 1 {
		return near[0], nil
	}
	hint := ""
	if near := document.Nearest(strings.ToLower(word), known); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	return docs.Term{}, &usageError{fmt.Errorf("the glossary has no term %q%s (see `dprelease explain`)", word, hint)}
}
