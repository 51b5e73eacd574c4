package report

// This file holds maps: pictures of published tables by place.

// Map is a picture of one figure of a table by place, or of a table by origin and destination.
type Map struct {
	Kind   string `json:"kind"` // grid, areas or flows
	Table  string `json:"table"`
	Figure string `json:"figure"`
	Of     string `json:"of"`    // the places, as pickup.16x16, or origins and destinations
	Title  string `json:"title"` // in words
	Text   string `json:"text"`  // what the picture shows, for those who do not see it
	Where  string `json:"where"` // which part of the world it is
	// Width and Height are those of the drawing, whose paths are in SVG's language.
	Width   int        `json:"width"`
	Height  int        `json:"height"`
	Ground  string     `json:"ground,omitempty"` // all places, under flows
	Classes []MapClass `json:"classes"`          // ascending
	// Unsure are the places whose figure is withheld, unbounded, or has a margin as large as itself.
	Unsure string  `json:"unsure,omitempty"`
	Beside []Place `json:"beside,omitempty"` // categories that are no place of the map, such as those outside its box
	// Largest are the places, or flows, with the largest figures.
	Largest []Place `json:"largest"`
}

// MapClass is the places whose figures are from one round number to before the next.
type MapClass struct {
	Range string `json:"range"` // in words
	Shade int    `json:"shade"` // 1 to 6, the higher the more
	Path  string `json:"path"`
}

// Place is a place, or an origin and a destination, with its figure.
type Place struct {
	Codes  []string `json:"codes"`
	Labels []string `json:"labels,omitempty"`
	Value  string   `json:"value"`
}
