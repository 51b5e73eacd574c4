package maker

import (
	"cmp"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec/language"
)

// languageOf returns the language in which the report of a plan is written.
func languageOf(p *plan.Plan) *language.Language {
	return cmp.Or(language.Of(p.Release().About.Language), language.English)
}
