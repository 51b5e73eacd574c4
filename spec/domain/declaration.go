package domain

// This file holds what a column's keys declare of its values.

// Declaration says what the values of a column can be.
type Declaration struct {
	Type   Type
	Domain *Domain
	// Lattice is where the values lie where they are added up, averaged or ranked; nil of a column that has none. Values
	// beyond it are clamped for that, whatever the policy for unknown ones says.
	Lattice *Lattice
	// Grid is the grid whose cells the values are, nil for none.
	Grid *Grid
	// Codebook is the code book of the domain, as the spec names the file; "" where it has none.
	Codebook string
	// Map is where the places of a code book are, nil where the spec does not say.
	Map *Boundaries
}
