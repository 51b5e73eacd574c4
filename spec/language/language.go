// Package language writes texts, numbers and dates in the language of a release.
//
// It owns the catalogues of translations: the English text of a message is its key, and another language has a
// translation for each in the files of its folder, in the PO format of GNU gettext. A language is added as a folder and
// a line in the table.
//
// It never decides anything, and never translates a name, a code or a message of a command: what depends on a language
// is read by people alone.
package language

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/dprelease/dprelease/budget"
	"github.com/leonelquinteros/gotext"
)

// Language is a language in which texts are written.
type Language struct {
	tag       string
	date      string                   // the order of year, month and day, as a replacement for the parts of a date
	decimal   string                   // mark before decimals
	percent   string                   // what is written for "%"
	catalogue func() map[string]string // translations by their English messages
}

// English is the language of the program.
var English = &Language{tag: "en", date: "$1-$2-$3", decimal: ".", percent: "%"}

// languages lists the languages. Each but English has a folder of catalogues.
var languages = []*Language{
	English,
	{tag: "de", date: "$3.$2.$1", decimal: ",", percent: "\u202f%", catalogue: catalogueOf("de")},
}

// Of returns the language with a tag (BCP 47), English for none, or nil if there is no such language.
func Of(tag string) *Language {
	if tag == "" {
		return English
	}
	if i := slices.IndexFunc(languages, func(l *Language) bool { return l.tag == tag }); i >= 0 {
		return languages[i]
	}
	return nil
}

// Tags returns the tags of all languages.
func Tags() []string {
	tags := make([]string, len(languages))
	for i, l := range languages {
		tags[i] = l.tag
	}
	return tags
}

//go:embed */*.po
var files embed.FS

// catalogueOf returns a function that reads the catalogues in a folder, once.
func catalogueOf(folder string) func() map[string]string {
	return sync.OnceValue(func() map[string]string {
		all := map[string]string{}
		names, err := fs.Glob(files, folder+"/*.po")
		if err != nil {
			panic("language: the pattern of catalogues is valid: " + err.Error())
		}
		for _, name := range names {
			text, err := files.ReadFile(name)
			if err != nil {
				panic("language: an embedded file can be read: " + err.Error())
			}
			po := gotext.NewPo()
			po.Parse(text)
			for message, translation := range po.GetDomain().GetTranslations() {
				if message != "" {
					all[message] = translation.Trs[0]
				}
			}
		}
		return all
	})
}

// Tag returns the tag of the language (BCP 47).
func (l *Language) Tag() string { return l.tag }

// Text writes a message in the language, with arguments as for [fmt.Sprintf]. The English message is the key of its
// translation; without one it is written in English. A message has at least one letter.
func (l *Language) Text(message string, args ...any) string {
	if l.catalogue != nil {
		message = cmp.Or(l.catalogue()[message], message)
	}
	if len(args) == 0 { // a message that is looked up from a variable may be a name, and have a sign of per cent
		return strings.ReplaceAll(message, "%%", "%")
	}
	return fmt.Sprintf(message, args...)
}

// Key marks the English text of a message that [Language.Text] gets as a variable, so that tests find it.
func Key(message string) string { return message }

// decimals matches numbers with decimals, and whole ones.
var decimals = regexp.MustCompile(`(\d)\.(\d)`)

// Number writes a number in the language that is written in English: with its decimal mark and its sign of per cent.
func (l *Language) Number(text string) string {
	if l == English {
		return text
	}
	return strings.ReplaceAll(decimals.ReplaceAllString(text, "${1}"+l.decimal+"${2}"), "%", l.percent)
}

// Percent writes a part of a whole as [budget.Percent] does.
func (l *Language) Percent(part float64) string { return l.Number(budget.Percent(part)) }

var day = regexp.MustCompile(`^(\d{4})-(\d\d)-(\d\d)$`)

// Date writes a day, given as YYYY-MM-DD; any other text is returned unchanged.
func (l *Language) Date(text string) string { return day.ReplaceAllString(text, l.date) }

// Plural writes a number of things; thing is the English singular. Its translations are those of "%s thing" and "%s
// things".
func (l *Language) Plural(n int64, thing string) string {
	return l.Text("%s "+thing+pluralEnd(n), budget.Group(n))
}

func pluralEnd(n int64) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// Times writes how often something happened.
func (l *Language) Times(n int64) string {
	if n == 1 {
		return l.Text("once")
	}
	return l.Text("%s times", budget.Group(n))
}

// List joins names with commas and "and".
func (l *Language) List(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return l.Text("%s and %s", strings.Join(names[:last], ", "), names[last])
}

// FirstOf returns the first name and the number of others.
func (l *Language) FirstOf(names []string) string {
	if more := len(names) - 1; more > 0 {
		return l.Text("%s and %d more", names[0], more)
	}
	return names[0]
}

// mostNamed is the number of tables that a sentence names.
const mostNamed = 5

// FirstFew lists the first few names of tables, and the number of others.
func (l *Language) FirstFew(names []string) string {
	list := strings.Join(names[:min(len(names), mostNamed)], ", ")
	if more := len(names) - mostNamed; more > 0 {
		return l.Text("%s and %s", list, l.Plural(int64(more), "more table"))
	}
	return list
}
