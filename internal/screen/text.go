package screen

import (
	"math"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// This file handles texts of one line: hidden characters, width, and fitting them into columns.

// Visible replaces what a terminal would obey or hide by escapes, so that no file can change what is seen: control
// characters, and those that change the direction of writing. Characters in keep stay.
func Visible(text, keep string) string {
	var b strings.Builder
	for _, c := range text {
		if unicode.IsGraphic(c) || strings.ContainsRune(keep, c) {
			b.WriteRune(c)
			continue
		}
		quoted := strconv.QuoteRune(c)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

// Quoted returns the name of a file or folder for a message: escaped as by [Visible], and quoted if it could be taken
// for words of the message because it has white space or invisible characters.
func Quoted(name string) string {
	if strings.ContainsFunc(name, func(c rune) bool { return unicode.IsSpace(c) || !unicode.IsGraphic(c) }) {
		return `"` + Visible(name, "") + `"`
	}
	return name
}

// runeWidth returns how many columns a character takes: none if it combines with the one before it, two if it is East
// Asian and wide, otherwise one.
func runeWidth(c rune) int {
	switch {
	case unicode.In(c, unicode.Mn, unicode.Me):
		return 0
	case c < 0x1100: // no wide characters below
		return 1
	}
	switch width.LookupRune(c).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Width returns how many columns an escaped text takes.
func Width(text string) int {
	n := 0
	for _, c := range text {
		n += runeWidth(c)
	}
	return n
}

// ellipsis marks where a part of a text is left out.
const ellipsis = "…"

// Fold leaves out the middle of a text that does not fit into so many columns: the names of a release differ at their
// ends as often as at their beginnings.
func Fold(text string, columns int) string {
	if Width(text) <= columns {
		return text
	}
	if columns < 1 {
		return ""
	}
	all := []rune(text)
	room := columns - 1
	from, head := 0, 0
	for from < len(all) && head+runeWidth(all[from]) <= (room+1)/2 {
		head += runeWidth(all[from])
		from++
	}
	to, tail := len(all), 0
	for to > from && tail+runeWidth(all[to-1]) <= room-head {
		to--
		tail += runeWidth(all[to])
	}
	for to < len(all) && runeWidth(all[to]) == 0 { // marks that combine with a character that is left out
		to++
	}
	return string(all[:from]) + ellipsis + string(all[to:])
}

// Wrap breaks a text into lines of at most so many columns, between words; a word that is longer than a line is
// broken. It returns at least one line.
func Wrap(text string, columns int) []string {
	columns = max(columns, 2)
	lines, line, filled := []string{}, "", 0
	for _, word := range strings.Fields(text) {
		n := Width(word)
		if filled > 0 && filled+1+n > columns {
			lines, line, filled = append(lines, line), "", 0
		}
		if filled > 0 {
			line, filled = line+" ", filled+1
		}
		for n > columns {
			part := cutAt(word, columns)
			lines, word = append(lines, part), word[len(part):]
			n = Width(word)
		}
		line, filled = line+word, filled+n
	}
	return append(lines, line)
}

// cutAt returns the beginning of a text that fits into so many columns, at least one character.
func cutAt(text string, columns int) string {
	n := 0
	for i, c := range text {
		if n += runeWidth(c); n > columns && i > 0 {
			return text[:i]
		}
	}
	return text
}

// Bar returns a part of a whole as a bar of so many columns, in steps of an eighth of a column. Every part above zero
// shows.
func Bar(part float64, columns int) string {
	if !(part > 0) || columns < 1 {
		return ""
	}
	eighths := int(math.Round(min(part, 1) * float64(8*columns)))
	eighths = max(1, eighths)
	bar := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		bar += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return bar
}
