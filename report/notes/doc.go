// Package notes says in words what a report tells in numbers: the guarantee in plain sentences, how close the figures
// are, how to read them and what they must not be used for, which way they are biased, and the hazards of differential
// privacy with the answer of the release to each.
//
// Its sentences are made from a report and its plan, and become part of report.json. It computes no error and no loss
// of its own.
package notes
