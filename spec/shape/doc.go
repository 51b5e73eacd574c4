// Package shape describes documents as data: which keys a mapping has, which of them are required, and which values a
// text may take.
//
// It owns the parts that a language can consist of. A language is one [Shape], composed of Object, Dictionary, List,
// Choice and scalars. [Check] strictly reports every difference of a document from its shape: an unknown key, a missing
// one, a value of another kind, each with the nearest valid name and a fix where there is one. The JSON Schema is
// generated from the same shapes ([Shape.Schema]), so that the two cannot drift apart.
//
// It never compares two parts of a document, for example whether a name is declared: the readers of nodes do.
package shape
