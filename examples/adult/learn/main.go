// Command learn trains a logistic regression of income above 50 000 dollars on the microdata of a release and on the
// true rows that it was made from, and says how well either tells the incomes of people whom neither has seen.
//
//	go run ./examples/adult/learn examples/adult/adult-train.csv adult-microdata/microdata/persons.parquet examples/adult/adult-test.csv
//
// What it prints is worked out from the truth, so it is no part of the release.
package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: learn adult-train.csv persons.parquet adult-test.csv")
		os.Exit(2)
	}
	if err := learn(os.Stdout, os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "learn:", err)
		os.Exit(1)
	}
}

// learn compares what is learned from two files on the rows of a third.
func learn(w io.Writer, truth, microdata, heldOut string) error {
	test, err := readCSV(heldOut)
	if err != nil {
		return err
	}
	if test.rich() == 0 || test.rich() == len(test.incomes) {
		return fmt.Errorf("%s: all incomes are alike, so there is nothing to tell apart", heldOut)
	}
	rich := float64(test.rich()) / float64(len(test.incomes))
	fmt.Fprintf(w, "COMPUTED FROM THE TRUTH: no part of any release\n\ntrained on       rows  accuracy     AUC\n")
	for _, from := range []struct {
		name, path string
		read       func(string) (people, error)
	}{{"the truth", truth, readCSV}, {"the microdata", microdata, readParquet}} {
		train, err := from.read(from.path)
		if err != nil {
			return err
		}
		model, err := fit(train)
		if err != nil {
			return fmt.Errorf("%s: %w", from.path, err)
		}
		scores := model.scores(test)
		fmt.Fprintf(w, "%-13s %7d    %.4f  %.4f\n", from.name, len(train.incomes), accuracy(scores, test.incomes),
			areaUnderCurve(scores, test.incomes))
	}
	fmt.Fprintf(w, "%-13s %7s    %.4f  %.4f\n", "nothing", "", max(rich, 1-rich), 0.5)
	return nil
}
