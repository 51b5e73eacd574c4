package expression

// This file splits a text into the tokens of the language.

import (
	"math/big"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

type tokenKind int

const (
	endToken tokenKind = iota
	nameToken
	wordToken // and, or, not, in, true, false, null
	numberToken
	textToken
	dateToken
	timestampToken
	signToken
)

// token is a word of the text, from byte at to byte end.
type token struct {
	kind    tokenKind
	at, end int
	text    string // the name, the word, the sign, or the content of a literal
	quoted  bool   // a name in backticks
}

var (
	namePattern      = regexp.MustCompile(`^[\p{L}_][\p{L}\p{M}\p{N}_]*`)
	numberPattern    = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]{1,3})?`)
	datePattern      = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}`)
	afterPattern     = regexp.MustCompile(`^[\p{L}\p{M}\p{N}_.]+`) // characters that may not follow a literal
	timestampPattern = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?`)
)

// literals are the patterns of literals that begin with a digit, each before those that match a prefix of it.
var digitLiterals = []struct {
	kind    tokenKind
	pattern *regexp.Regexp
}{{timestampToken, timestampPattern}, {dateToken, datePattern}, {numberToken, numberPattern}}

var reservedWords = []string{"and", "or", "not", "in", "true", "false", "null"}

// signs includes signs of other languages. Longer signs stand before their prefixes.
var signs = []string{"&&", "||", "<>", "≥", "≤", "≠", "==", "!=", "<=", ">=", "//", "<", ">", "+", "-", "*", "%", "(",
	")", "[", "]", "{", "}", ",", ":", ".", "&", "|", "=", "!", "/"}

// foreignSigns maps signs of other languages to the sign or word to write instead.
var foreignSigns = map[string]string{"&&": "and", "||": "or", "&": "and", "|": "or", "=": "==", "<>": "!=", "!": "not",
	"/": "//", "≥": ">=", "≤": "<=", "≠": "!="}

// tokenize returns the tokens of a text, followed by an endToken.
func tokenize(text string) ([]token, *Error) {
	var all []token
	for at := 0; ; {
		rest := strings.TrimLeft(text[at:], " \t\r\n")
		at = len(text) - len(rest)
		if rest == "" {
			return append(all, token{kind: endToken, at: at, end: at}), nil
		}
		t, err := tokenAt(text, at)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
		at = t.end
	}
}

func tokenAt(text string, at int) (token, *Error) {
	rest := text[at:]
	for _, l := range digitLiterals {
		if found := l.pattern.FindString(rest); found != "" {
			return literalToken(l.kind, text, at, found)
		}
	}
	if found := namePattern.FindString(rest); found != "" {
		t := token{kind: nameToken, at: at, end: at + len(found), text: found}
		if slices.Contains(reservedWords, found) {
			t.kind = wordToken
		}
		return t, nil
	}
	switch rest[0] {
	case '\'', '"', '`':
		return quotedToken(text, at)
	}
	return signAt(text, at)
}

// literalToken returns a literal that begins with a digit. It returns an error if a letter or a digit follows.
func literalToken(kind tokenKind, text string, at int, found string) (token, *Error) {
	end := at + len(found)
	if name := afterPattern.FindString(text[end:]); name != "" {
		return token{}, &Error{At: at, End: end + len(name), Message: "found " + quoteExcerpt(text[at:end+len(name)]),
			Expected: "a number as 18 or 0.5, a date as 2024-01-31 or a timestamp as 2024-01-31T12:30; a name that " +
				"begins with a digit stands in backticks"}
	}
	return token{kind: kind, at: at, end: end, text: found}, nil
}

// Name returns the name in backticks that makes up all of the text. ok is false for any other text.
func Name(text string) (name string, ok bool) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "`") {
		return "", false
	}
	t, err := quotedToken(text, 0)
	return t.text, err == nil && t.end == len(text)
}

// quotedToken returns a text in quotes or a name in backticks. A doubled quote stands for the quote itself.
func quotedToken(text string, at int) (token, *Error) {
	quote := text[at : at+1]
	t := token{kind: textToken, at: at}
	if quote == "`" {
		t.kind, t.quoted = nameToken, true
	}
	for i := at + 1; ; {
		next := strings.Index(text[i:], quote)
		if next < 0 {
			return t, &Error{At: at, End: len(text), Message: "the quote " + quote + " is not closed",
				Expected: "another " +
					quote}
		}
		t.text += text[i : i+next]
		i += next + 1
		if !strings.HasPrefix(text[i:], quote) {
			t.end = i
			break
		}
		t.text += quote
		i++
	}
	if t.quoted && t.text == "" {
		return t, &Error{At: at, End: t.end, Message: "a name of no characters", Expected: "a column of the source"}
	}
	return t, nil
}

func signAt(text string, at int) (token, *Error) {
	rest := text[at:]
	for _, sign := range signs {
		switch meant := foreignSigns[sign]; {
		case !strings.HasPrefix(rest, sign):
		case meant != "":
			return token{}, foreignSign(sign, meant, at)
		default:
			return token{kind: signToken, at: at, end: at + len(sign), text: sign}, nil
		}
	}
	_, size := utf8.DecodeRuneInString(rest)
	return token{}, &Error{At: at, End: at + size, Message: "found " + quoteExcerpt(rest[:size]),
		Expected: "a column, a number, a text in quotes or a function; a name with other characters stands in backticks"}
}

func foreignSign(sign, meant string, at int) *Error {
	e := &Error{At: at, End: at + len(sign), Message: "found " + sign, Expected: meant, Fix: meant}
	switch sign {
	case "/":
		e.Expected = "//, the whole part of a quotient of integers (7 // 2 is 3); a ratio is compared without " +
			"dividing, as a >= 2 * b"
	case "!":
		e.Fix = "not "
	}
	return e
}

// quoteExcerpt quotes a text of a spec for a message, shortened to 40 characters.
func quoteExcerpt(text string) string {
	if runes := []rune(text); len(runes) > 40 {
		text = string(runes[:39]) + "…"
	}
	return "`" + text + "`"
}

// parseNumber reads an exact number.
func parseNumber(text string) (*big.Rat, bool) {
	if len(text) > 60 {
		return nil, false
	}
	if _, exponent, found := strings.Cut(strings.ToLower(text), "e"); found &&
		len(strings.TrimLeft(exponent, "+-0")) > 2 {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}
