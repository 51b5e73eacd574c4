package model_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/dprelease/dprelease/plan/boosting"
	"github.com/dprelease/dprelease/synth/model"
)

// rows answers rounds from rows of codes, the target last, without noise.
type rows struct {
	shape *boosting.Shape
	codes [][]int
}

func (r rows) Answer(_ context.Context, _ int, q boosting.Question) ([]int64, error) {
	answer, residuals := make([]int64, q.Len(r.shape)), r.shape.Residuals()
	for _, row := range r.codes {
		if q.Scores == nil {
			answer[row[q.Column]]++
			continue
		}
		last := len(row) - 1
		answer[q.Groups[row[q.Column]]] += int64(residuals.Of(row[last], q.Scores.Of(r.shape, row)))
	}
	return answer, nil
}

// A model of who returns, by one column, of 40 rows: one in four returns after a stay, three in four after two.
func Example() {
	shape := &boosting.Shape{
		Columns:  []boosting.Column{{Categories: 2}},
		Link:     boosting.Logit,
		Outcomes: []int64{0, 1},
		Schedule: boosting.Schedule{Epochs: 40, Groups: 2, Rate: .5},
	}
	var codes [][]int
	for i := range 40 {
		returned := 0
		if i%4 == 0 {
			returned = 1
		}
		codes = append(codes, []int{0, returned}, []int{1, 1 - returned})
	}
	m, err := model.Train(context.Background(), shape, rows{shape, codes})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := m.Publish("returned", []model.Labels{{Name: "stays", Categories: []string{"one", "two"}}},
		[]string{"no", "yes"})
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := json.Marshal(p)
	if err != nil {
		fmt.Println(err)
		return
	}
	read, err := model.Read(text)
	if err != nil {
		fmt.Println(err)
		return
	}
	scores := read.Inputs[0].Scores
	fmt.Println(scores)
	fmt.Printf("%.2f\n", read.Mean([]model.Value{{Category: 1}}))
	// Output:
	// [-1.0986 1.0986]
	// 0.75
}
