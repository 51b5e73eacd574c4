package main

import (
	"cmp"
	"errors"
	"path/filepath"

	"github.com/dprelease/dprelease/internal/evaluate"
	"github.com/spf13/cobra"
)

func (a *app) evaluateCommand() *cobra.Command {
	var out string
	var predict []string
	c := &cobra.Command{
		Use:   "evaluate SPEC RELEASE -o DIR",
		Short: "Compare a release with the confidential data; the ledger notes it",
		Long: `Compare the tables and microdata of a published release with the confidential data:
the errors with those that were predicted, how often the intervals contain the
truth, how far the marginals of the microdata are from the truth, how strongly their
columns are related, how well their rows can be distinguished from true rows, which
unique rows they contain and which rules of the spec they break; and how well models,
and what can be learned from microdata, predict the true rows.

The result is confidential. It is written to a folder of its own, which only its
owner can enter, and nowhere else. Before anything is compared, the ledger notes the
comparison, at no cost: every later certificate of the account says how many
comparisons came before it.`,
		Args: argCount(2, 2),
		RunE: func(c *cobra.Command, args []string) error {
			if a.out = out; out == "" {
				return &usageError{errors.New(
					"say with -o DIR where the evaluation goes: a folder of its own, outside every release")}
			}
			p, err := a.planSpec(c.Context(), args[0])
			if err != nil {
				return err
			}
			a.data = cmp.Or(a.data, filepath.Dir(args[0]))
			options, err := a.releaseOptions()
			if err != nil {
				return err
			}
			folder, err := evaluate.Evaluate(
				c.Context(),
				p,
				args[1],
				evaluate.Options{Out: options.Out, Data: options.Data,
					State: options.State, Account: options.Account(), Log: options.Log, Predict: predict},
			)
			a.outcome.Path = folder
			if err != nil {
				return err
			}
			a.say("Written, confidential: %s and %s. The comparison is noted in the ledger.",
				filepath.Join(folder, evaluate.EvaluationPage), filepath.Join(folder, evaluate.EvaluationJSON))
			return nil
		},
	}
	c.Flags().StringVarP(&out, "out", "o", "", "folder for the evaluation, outside every release")
	c.Flags().StringArrayVar(&predict, "predict", nil,
		"also test how well a column of the microdata can be predicted: `COLUMN=CATEGORY`, COLUMN of numbers, or "+
			"TABLE=COLUMN=CATEGORY; may be repeated")
	a.specFlags(c)
	a.ledgerFlag(c, "without one, the practice account that paid")
	c.Flags().StringVar(&a.state, "state", "",
		"state directory with the practice ledger (default $DPRELEASE_STATE, else .dprelease next to the release)")
	a.officeFlag(c, "the entries of a signed ledger")
	a.todayFlag(c)
	c.Flags().StringVar(&a.data, "data", "", "base folder of relative source paths (default: the spec's folder)")
	return c
}
