package compiled

// This file holds what the tests of this package reach beside what it exports.

var ApartAlone = apartAlone
