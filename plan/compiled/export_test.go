package compiled

// This file gives this package's tests access to unexported names.

var ApartAlone = pairMarginOfDraws
