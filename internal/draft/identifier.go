package draft

// This file judges columns by their names: which identify units, and which have dates or numbers.

import (
	"regexp"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// identity is how sure the name of a column makes it that the column identifies units.
type identity int

const (
	notID     identity = iota
	perhapsID          // a person must say whether it is
	surelyID
)

// Parts of names, in lower case. A unit is who or what a row is about; the forms that compounds have are there too.
const (
	idPart     = `(id|uid|uuid|guid|pid|key|ssn|ident|identifier|identifikator|kennung)`
	numberPart = `(no|nr|num|number|nummer)`
	unitPart   = `(pers|persons?|personen|people|individual|resp|respondents?|befragten?|befragter|participant|` +
		`teilnehmer|subject|probanden?|customers?|clients?|kunden?|users?|members?|mitglieds?|patients?|patienten|case|fall|` +
		`households?|hh|haushalts?|family|familien?|employee|worker|mitarbeiter|students?|pupils?|versicherten|versicherter)`
)

var (
	wordBreak = regexp.MustCompile(`(\p{Ll})(\p{Lu})`)
	wordParts = regexp.MustCompile(`[\p{L}\p{M}]+`)
	sureName  = regexp.MustCompile(`(^|_)` + idPart + `$|^(id|uuid|guid)_|` +
		`(^|_)` + unitPart + `_?(` + idPart + `|` + numberPart + `)$`)
	likeName = regexp.MustCompile(`(^|_)(no|nr|number)$|(nummer|kennung|kennziffer)$|` +
		`^` + unitPart + `$|(^|_)` + unitPart + `_?code$`)
)

// Names of columns with dates, and with whole numbers. Sums of money are not among them: they often come in classes, or
// with cents.
var (
	dateName   = regexp.MustCompile(`(^|_)(date|birthday|dob|(seen|born|opened|closed|begun|ended)_(on|at))($|_)|datum$`)
	numberName = regexp.MustCompile(`(^|_)(age|alter|years?|jahre|days|tage|hours|stunden|minutes|minuten|weeks|wochen|` +
		`visits|besuche|children|kinder)$`)
)

// suggestsDate reports whether the name of a column says that it has dates.
func suggestsDate(name string) bool { return dateName.MatchString(joinedWords(name)) }

// suggestsNumber reports whether the name of a column says that it has numbers.
func suggestsNumber(name string) bool { return numberName.MatchString(joinedWords(name)) }

// joinedWords returns the words of a name in lower case, joined by underscores.
func joinedWords(name string) string {
	return strings.Join(wordParts.FindAllString(
		strings.ToLower(wordBreak.ReplaceAllString(norm.NFC.String(name), "${1} ${2}")), -1), "_")
}

// identifies judges a column by its name: "person_id", "Person no", "customerNumber", "pid" and "Kundennummer" are ids,
// and "house number", "person" and "patient code" may be.
func identifies(name string) identity {
	switch joined := joinedWords(name); {
	case sureName.MatchString(joined):
		return surelyID
	case likeName.MatchString(joined):
		return perhapsID
	}
	return notID
}
