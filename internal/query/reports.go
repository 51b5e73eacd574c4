package query

import (
	"errors"

	"github.com/dprelease/dprelease/internal/interval"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/synth"
)

// This file answers questions about a release whose answers were randomised on the respondents' devices.

// collectedAnswer answers a question from the reports to one question of the collection.
func collectedAnswer(e *published.Release, place string, q Question, question *resolvedQuestion,
	from matchingTable) (*Answer, error) {
	all, err := e.Answers(e.Plan.Measurements)
	if err != nil {
		return nil, err
	}
	table := e.Plan.Tables[from.table]
	a := &Answer{Folder: place, Release: e.Plan.Name, Status: e.Manifest.Status, From: table.From,
		By: append([]string{}, q.By...), Where: question.conditions, Covers: published.IntervalCoverage(e.Plan.Plan()),
		Table: table.Path, Statistic: answerName, Confidence: table.Statistics[0].Confidence,
		Measurements: []string{table.Path}}
	reports, _ := all[from.table].Measurement.Reports()
	sums := synth.ReportSums(e.Plan.Plan(), all, from.table, from.groupings, a.Confidence)
	for _, row := range from.questionRows(question) {
		sum := sums[row.at]
		if sum.Cells > 1 && !reports.HasSums() {
			return nil, &verdict.Unusable{File: place, Err: errors.New(
				"a question of more than 512 categories has no errors for sums of its cells: ask for single cells")}
		}
		a.Rows = append(a.Rows, AnswerRow{Keys: row.keys, Cells: sum.Cells, Unbiased: sum.Unbiased,
			StandardError: sum.Error, Low: sum.Low, High: sum.High, Law: interval.Reports, Attained: a.Confidence})
	}
	return a, nil
}

// notCollected returns an error for a release whose errors do not add up with those of others.
func notCollected(e *published.Release) error {
	if e.Plan.Release().Collection != nil {
		return errors.New(
			"collects answers that devices have randomised: ask it for counts, and alone (`dprelease query FOLDER`); " +
				"its sums and means are in its tables (`dprelease show FOLDER TABLE`)")
	}
	return nil
}
