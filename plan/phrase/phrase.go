// Package phrase owns what a plan says of itself: what spoke for a method, or against a strategy, a law of noise or
// counts that add up, which changes would help a table, and what a diagnostic counts. A plan holds phrases as codes,
// with the names and numbers that go with them; their words are made from these, and are in no plan. It
// never decides anything.
package phrase

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec/language"
)

// Code names a phrase in plan.json.
type Code string

// Phrase is a part of a sentence about a plan. The zero value says nothing.
type Phrase struct {
	Code Code `json:"code"`
	// Of are the names and numbers that the words need, in the order that the code says. Numbers are in decimals.
	Of []string `json:"of,omitempty"`
}

// New returns a phrase with its names and numbers.
func New(code Code, of ...any) Phrase {
	p := Phrase{Code: code}
	for _, x := range of {
		p.Of = append(p.Of, fmt.Sprint(x))
	}
	return p
}

// IsZero reports whether it says nothing.
func (p Phrase) IsZero() bool { return p.Code == "" }

// String puts the phrase into English words.
func (p Phrase) String() string { return p.In(language.English) }

// In puts the phrase into words of a language; "" for one that says nothing. A code that this version does not know, or
// one that lacks what its words need, is given as it is.
func (p Phrase) In(l *language.Language) string {
	if p.IsZero() {
		return ""
	}
	words, known := inWords[p.Code]
	if !known || len(p.Of) < words.takes {
		return strings.Join(append([]string{string(p.Code)}, p.Of...), " ")
	}
	return words.say(l, p.Of)
}

// InWords puts several phrases into words.
func InWords(all []Phrase) string {
	texts := make([]string, len(all))
	for i, p := range all {
		texts[i] = p.String()
	}
	return strings.Join(texts, "; ")
}

// words are the words of a code.
type words struct {
	takes int // how many names and numbers they need, at least
	say   func(l *language.Language, of []string) string
}

// always are words without names and numbers.
func always(message string) words { return with(0, message) }

// with are words in which names stand as they are.
func with(takes int, message string) words { return withNumbers(takes, takes, message) }

// withNumbers are words in which names stand as they are; numbers, from the given one on, are written in the language.
func withNumbers(takes, from int, message string) words {
	return words{takes, func(l *language.Language, of []string) string {
		all := make([]any, takes)
		for i := range all {
			all[i] = of[i]
			if i >= from {
				all[i] = l.Number(of[i])
			}
		}
		return l.Text(message, all...)
	}}
}

// group returns a whole number with its digits grouped; a text that is none, as it is.
func group(text string) string {
	if _, whole := new(big.Int).SetString(text, 10); !whole {
		return text
	}
	return budget.GroupDigits(text)
}
