package boosting_test

import (
	"fmt"

	"github.com/dprelease/dprelease/plan/boosting"
)

// A model of a class by two columns asks for three counts, and then for sums of residuals in turns.
func Example() {
	shape := &boosting.Shape{
		Columns:  []boosting.Column{{Categories: 30, Ordered: true}, {Categories: 2}},
		Link:     boosting.Logit,
		Outcomes: []int64{0, 1},
		Schedule: boosting.NewSchedule(.2681, 1000, 2),
	}
	if err := shape.Check(); err != nil {
		fmt.Println(err)
		return
	}
	last := shape.Rounds() - 1
	fmt.Println(shape.Epochs, "epochs,", shape.Rounds(), "rounds; the last asks about column", shape.Column(last))

	// A row of class 1 with score 0, a chance of one half, has half of the largest residual.
	fmt.Println(shape.Residuals().Of(1, 0), "of", boosting.Bound)
	// Output:
	// 5 epochs, 13 rounds; the last asks about column 1
	// 2048 of 4096
}
