package report

// This file holds maps: pictures of published tables by place.

// Map is a picture of one figure of a table by place, or of a table by origin and destination.
type Map struct {
	Kind   string `json:"kind"` // grid, areas or flows
	Table  string `json:"table"`
	Figure string `json:"figure"`
	Of     string `json:"of"`    // the places, such as pickup.16x16, or origins and destinations
	Title  string `json:"title"` // in words
	Text   string `json:"text"`  // describes the picture for readers who cannot see it
	Where  string `json:"where"` // the part of the world that it shows
	// Width and Height are the size of the drawing. Its paths are in SVG's syntax.
	Width   int        `json:"width"`
	Height  int        `json:"height"`
	Ground  string     `json:"ground,omitempty"` // all places, drawn under flows
	Classes []MapClass `json:"classes"`          // ascending
	// Unsure are the places whose figure is withheld, unbounded, or no larger than its margin.
	Unsure string `json:"unsure,omitempty"`
	// categories that are not on the map, such as the one for places outside its box
	OffMap []Place `json:"beside,omitempty"`
	// Largest are the places, or flows, with the largest figures.
	Largest []Place `json:"largest"`
}

// MapClass is the places whose figures are in a class that begins at a round number.
type MapClass struct {
	Range string `json:"range"` // in words
	Shade int    `json:"shade"` // 1 to 6, darker for larger figures
	Path  string `json:"path"`
}

// Place is a place, or an origin and a destination, with its figure.
type Place struct {
	Codes  []string `json:"codes"`
	Labels []string `json:"labels,omitempty"`
	Value  string   `json:"value"`
}
