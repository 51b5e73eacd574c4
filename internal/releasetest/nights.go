package releasetest

// NightSpec says that nobody walks at night; part is a level of hour under another name.
const NightSpec = `version: 1
release: trips
privacy: {protects: trip, neighbours: add-remove, account: trips}
budget: {rho: 2}
tables:
  t:
    source: {csv: t.csv}
    unit: {id: who, max_rows: 2}
    columns:
      mode: {values: [walk, ride, sail]}
      hour: {type: integer, range: [0, 5], levels: {half: {edges: [0, 3, 5]}}}
      part: {derived_from: hour.half}
      day:  {values: [mo, tu]}
impossible:
  - {where: {mode: walk, hour.half: 3–5}, rows: drop}
marginals:
  modes: {by: [mode]}
  days:  {by: [day]}
  parts: {by: [part, day]}
  nights: {by: [mode, part]}
  hours: {by: [day, hour, mode]}
`

// NightRows are rows of ten units of one row each; two walk at night.
const NightRows = "who,mode,hour,day\n1,walk,0,mo\n2,walk,4,mo\n3,ride,4,tu\n4,ride,5,tu\n5,sail,2,mo\n6,walk,5,tu\n" +
	"7,ride,1,mo\n8,sail,3,mo\n9,walk,2,tu\n10,ride,4,mo\n"
