// Package respondent collects answers under local differential privacy: respondents' devices randomise them, and only
// reports leave the devices.
//
// It owns the collector's public file, the form of reports in files, their shuffling, and the counting of how many
// reports hold each category. Its inner package client is what runs on a device.
//
// It never sees an answer, but for [Randomise], which stands in for devices where somebody trusted has the answers. It
// decides no probability, which is the plan's, and estimates nothing, which package synth does.
package respondent
