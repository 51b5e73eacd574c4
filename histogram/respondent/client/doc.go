// Package client is the respondent's side of a collection under local differential privacy: it randomises answers on
// the device, so that only reports leave it. It uses the standard library alone and compiles to WebAssembly.
//
// It owns the collector's public file as a device reads it, the draws of a report, and the memo of what a device has
// sent. It never sends anything, and none of its errors shows an answer. protocol.md describes the draws byte by byte
// for other languages, and testdata/vectors.json has examples of them.
//
//	collector, err := client.Read(text) // collector.json
//	memo := new(client.Memo)            // or the one that the device has kept
//	reports, err := collector.Respond(map[string]string{"used": "yes"}, memo, nil)
//	kept, err := json.Marshal(memo)     // to be kept on the device before the reports are sent
//
// Guarantee: a report is ε-locally differentially private with the ε of its question, in exact arithmetic, and [Read]
// refuses a file that would take more than it says. Neighbours: any two answers of one respondent. Theorem: Ye & Barg
// 2018, Optimal schemes for discrete distribution estimation under locally differential privacy, section III;
// docs/proofs/local.md. The guarantee holds for each distinct answer: the same answer has the same report, which costs
// nothing more, and a changed answer costs ε again. That an answer has changed, or has changed back, is not hidden.
package client
