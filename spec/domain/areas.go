package domain

// This file holds the outlines of places.

// Boundaries are the outlines of a column's categories, at its finest level.
type Boundaries struct {
	// File is the GeoJSON file, as the spec names it.
	File string
	// Areas are indexed by base code; nil for a category that the file does not contain.
	Areas []Area
}

// Area is the outline of a place: closed rings of longitudes and latitudes in degrees. A point is inside if a ray from
// it crosses the rings an odd number of times, so that a ring within another is a hole.
type Area [][]Position

// Position is a longitude and a latitude in degrees.
type Position [2]float64
