package plan

import "github.com/dprelease/dprelease/plan/selection"

// This file holds the tables with groups that nobody lists.

func statesGroups(t Table) bool { return t.Discovered != nil }

func givesGroups(Table, selection.Selection) bool { return true }

func groupsAsAsked(t, asked Table) bool { return t.Discovered.MatchesRequest(*asked.Discovered) }
