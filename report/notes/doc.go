// Package notes puts into words what a report states in numbers.
//
// It owns the sentences of a report: the guarantee in plain words, how close the figures are, how to read them and what
// they must not be used for, their bias, and the hazards of differential privacy with the release's answer to each.
// They are made from a report and its plan, and become part of report.json.
//
// It never computes an error or a loss of its own.
package notes
