package main

import (
	"go/types"
	"slices"
	"strings"
)

// wayRule describes which struct types count as representations of a marginal.
const wayRule = `A representation of a marginal is a struct type with a field that lists the attributes by which
cells are keyed: a slice, or a set of the algebra of residuals, that is named by, factors, axes, attributes or
keys (in any case). It is counted in every package, also in those that answer questions about a release.`

var keyFields = []string{"by", "factors", "axes", "attributes", "keys"}

// representations returns the struct types of a package that represent a marginal, sorted by name.
func (s *source) representations() (found []string) {
	for _, object := range s.info.Defs {
		name, ok := object.(*types.TypeName)
		if !ok || name.IsAlias() {
			continue
		}
		if fields, ok := name.Type().Underlying().(*types.Struct); ok && listsKeys(fields) {
			found = append(found, name.Name())
		}
	}
	slices.Sort(found)
	return found
}

func listsKeys(s *types.Struct) bool {
	for f := range s.Fields() {
		if !slices.Contains(keyFields, strings.ToLower(f.Name())) {
			continue
		}
		if named, ok := types.Unalias(f.Type()).(*types.Named); ok && named.Obj().Name() == "Set" {
			return true
		}
		if _, ok := f.Type().Underlying().(*types.Slice); ok {
			return true
		}
	}
	return false
}
