// The page's program gives the client of package client to scripts of a page, as functions of window.dprelease.
package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"io"
	"syscall/js"

	"github.com/dprelease/dprelease/histogram/respondent/client"
)

func main() {
	js.Global().Set("dprelease", map[string]any{
		"check":   js.FuncOf(func(_ js.Value, args []js.Value) any { return answered(check(args)) }),
		"respond": js.FuncOf(func(_ js.Value, args []js.Value) any { return answered(respond(args)) }),
	})
	select {} // the functions live as long as the page
}

// answered returns what a function answers, or {error: …}.
func answered(answer map[string]any, err error) any {
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	return answer
}

// memoOf returns the memo of a text, and a new one if it is empty.
func memoOf(text string) (*client.Memo, error) {
	memo := new(client.Memo)
	if text == "" {
		return memo, nil
	}
	return memo, json.Unmarshal([]byte(text), memo)
}

// check(collectorText, memoText) returns {id, spent} if the collector's file and the memo are sound: the ID of the
// file, and the ε that the device has lost so far.
func check(args []js.Value) (map[string]any, error) {
	c, err := client.Read([]byte(args[0].String()))
	if err != nil {
		return nil, err
	}
	memo, err := memoOf(args[1].String())
	if err != nil {
		return nil, err
	}
	return map[string]any{"id": c.ID(), "spent": memo.Spent()}, nil
}

// respond(collectorText, answers, memoText, randomHex) returns {reports, memo, spent}: the lines to send, and the memo
// to keep before they are sent. Without randomHex, which is for tests, the system's generator draws.
func respond(args []js.Value) (map[string]any, error) {
	c, err := client.Read([]byte(args[0].String()))
	if err != nil {
		return nil, err
	}
	memo, err := memoOf(args[2].String())
	if err != nil {
		return nil, err
	}
	var random io.Reader
	if len(args) > 3 && args[3].Truthy() {
		given, err := hex.DecodeString(args[3].String())
		if err != nil {
			return nil, err
		}
		random = bytes.NewReader(given)
	}
	reports, err := c.Respond(answersOf(args[1]), memo, random)
	if err != nil {
		return nil, err
	}
	var lines []any
	for _, r := range reports {
		line, err := json.Marshal(r)
		if err != nil {
			return nil, err
		}
		lines = append(lines, string(line))
	}
	kept, err := json.Marshal(memo)
	return map[string]any{"reports": lines, "memo": string(kept), "spent": memo.Spent()}, err
}

// answersOf returns the texts of an object by their keys.
func answersOf(object js.Value) map[string]string {
	answers, entries := map[string]string{}, js.Global().Get("Object").Call("entries", object)
	for i := range entries.Length() {
		answers[entries.Index(i).Index(0).String()] = entries.Index(i).Index(1).String()
	}
	return answers
}
