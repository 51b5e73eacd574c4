package domain

// This file holds what the keys of a column declare about its values.

// Declaration describes the values that a column can have.
type Declaration struct {
	Type   Type
	Domain *Domain
	// Lattice holds the values that are added up, averaged or ranked; it is nil for a column that has none. Values
	// beyond it are clamped for these statistics, whatever the policy for unknown values is.
	Lattice *Lattice
	// Grid is the grid whose cells are the values, nil for none.
	Grid *Grid
	// Codebook names the file of the domain's code book as the spec does; "" for none.
	Codebook string
	// Map holds the outlines of a code book's places, nil if the spec names no map.
	Map *Boundaries
}
