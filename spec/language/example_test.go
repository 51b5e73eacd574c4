package language_test

import (
	"fmt"

	"github.com/dprelease/dprelease/spec/language"
)

func Example() {
	for _, tag := range language.Tags() {
		l := language.Of(tag)
		fmt.Println(l.Plural(2, "table"), l.Percent(0.125), l.Date("2026-11-28"))
	}
	// Output:
	// 2 tables 12.5% 2026-11-28
	// 2 Tabellen 12,5 % 28.11.2026
}
