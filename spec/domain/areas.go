package domain

// This file holds the areas of places.

// Boundaries are the areas of the categories of a column, of its finest level.
type Boundaries struct {
	// File is the GeoJSON file, as the spec names it.
	File string
	// Areas are by base code; one that the file does not have is nil.
	Areas []Area
}

// Area is the outlines of a place: closed rings of longitudes and latitudes in degrees. A point is in it where a line
// from it crosses them an odd number of times, so that a ring within another is a hole.
type Area [][]Position

// Position is a longitude and a latitude in degrees.
type Position [2]float64
