package client_test

import (
	"encoding/json"
	"fmt"
	"log"

	"github.com/dprelease/dprelease/histogram/respondent/client"
)

func Example() {
	collector, err := client.Read([]byte(`{"format": "dprelease.collector/1",
		"release": "student-drugs-2026", "collection": "answers", "epsilon": "2", "asks": "one",
		"questions": [{"name": "used", "columns": [{"name": "used", "categories": ["no", "yes"]}],
			"chance": 281474976710656, "epsilon": "2",
			"form": "set", "categories": 2, "support": 1, "keep": 247922337010638}]}`))
	if err != nil {
		log.Fatal(err)
	}
	memo := new(client.Memo)
	reports, err := collector.Respond(map[string]string{"used": "yes"}, memo, nil)
	if err != nil {
		log.Fatal(err)
	}
	kept, err := json.Marshal(memo) // to be kept on the device before the reports are sent
	if err != nil {
		log.Fatal(err)
	}
	again := new(client.Memo)
	if err := json.Unmarshal(kept, again); err != nil {
		log.Fatal(err)
	}
	same, err := collector.Respond(map[string]string{"used": "yes"}, again, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(reports[0].Bytes) == string(same[0].Bytes), "ε =", again.Spent())
	// Output: true ε = 2
}
