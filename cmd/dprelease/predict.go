package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/predict"
	"github.com/dprelease/dprelease/synth/model"
	"github.com/spf13/cobra"
)

func (a *app) predictCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "predict MODEL.json FILE [--out FILE]",
		Short: "Predict the rows of a file by a published model",
		Long: `Write the rows of a CSV, Parquet or Arrow file as CSV, each with a last column,
prediction: the probability of the class that the model predicts, or the mean of the
number. MODEL.json is a file of the folder models/ of a release: an additive model, or
a linear or logistic regression.

FILE has a column for each column of the model: one of the model's own name, such as
age.band, with the categories as the model writes them, or the one that they are made
of, such as age, with values. Other columns are copied. A value that is in no category
of the model, or outside the range of a number of a regression, is refused, with its
row and column, and then nothing is written. A missing value is refused too, unless
the model has a category for it.

It costs no budget. Predictions about people are personal data, so --out makes a file
that only its owner can read. docs/howto/models.md says what a model is not for.`,
		Example: `  dprelease predict readmission-2026/models/risk.json stays.csv --out predicted.csv`,
		Args:    argCount(2, 2),
		RunE: func(c *cobra.Command, args []string) error {
			if a.json && out == "" {
				return &usageError{errors.New("--json prints a document, and so needs --out FILE for the predictions")}
			}
			if err := checkOutput("--out", out, args...); err != nil {
				return err
			}
			m, err := predict.ReadModel(args[0])
			if err != nil {
				return err
			}
			if out == "" {
				return a.printPredictions(c.Context(), m, args[1])
			}
			rows := int64(0)
			err = durable.WritePrivate(filepath.Dir(out), ".predict-", filepath.Base(out), func(f io.Writer) error {
				rows, err = predict.Write(c.Context(), m, args[1], f)
				return err
			})
			if err != nil {
				return err
			}
			a.outcome.Path, a.outcome.Rows = out, rows
			a.say("Predicted: %s in %s", budget.Plural(rows, "row"), out)
			return nil
		},
	}
	c.Flags().StringVarP(&out, "out", "o", "", "CSV file to write (default: standard output)")
	return c
}

// printPredictions prints the predictions of a file's rows. It reads the file twice, so that nothing is printed if a
// row cannot be predicted.
func (a *app) printPredictions(ctx context.Context, m *model.Predictor, path string) error {
	if _, err := predict.Write(ctx, m, path, io.Discard); err != nil {
		return err
	}
	_, err := predict.Write(ctx, m, path, a.page())
	return err
}
