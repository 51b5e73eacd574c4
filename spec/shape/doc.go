// Package shape describes documents as data: which keys a mapping has, which of them must be there, which values a
// text may take.
//
// It owns what a language can be made of. A language is one [Shape], of Object, Dictionary, List, Choice and scalars.
// [Check] reports every difference of a document from its shape, strictly: an unknown key, a missing one, a value of
// another kind, each with the nearest valid name and a fix where there is one. The JSON Schema is generated from the
// same shapes ([Shape.Schema]), so that the two cannot drift apart.
//
// It never compares two parts of a document, as where a name must be declared: those that read the nodes do.
package shape
