#!/bin/sh
# The model of release.yaml at five budgets, each judged by the stays of the next year, which nobody fitted anything to:
#
#   examples/clinic/run.sh [FOLDER]
#
# At each budget it makes a release of one hospital with all stays, and one of three hospitals with a third of them
# each, which fit the model together without showing each other a stay. Both predict the next year, and at the end they
# are compared: FOLDER/auc.svg.
set -eu
example=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:-clinic}"
cd "${1:-clinic}"
(cd "$example" && go build -o "$OLDPWD/dprelease" ../../cmd/dprelease && go run ./generate "$OLDPWD/data")

# Each hospital has every third patient, and a key.
n=0
for hospital in north east south; do
  mkdir -p "$hospital/data"
  awk -F, -v n="$n" 'NR == 1 || $1 % 3 == n' data/stays.csv > "$hospital/data/stays.csv"
  [ -e "$hospital/key" ] || ./dprelease holder key "$hospital/key" > /dev/null
  n=$((n + 1))
done

for epsilon in 0.25 0.5 1 2 4; do
  sed "s/epsilon: 2,/epsilon: $epsilon,/" "$example/release.yaml" > release.yaml
  ./dprelease run release.yaml -o "epsilon-$epsilon" > "run-$epsilon.txt"
  ./dprelease predict "epsilon-$epsilon/clinic-2026/models/risk.json" data/next.csv --out "predicted-$epsilon.csv"

  # The same by three hospitals. Each measures its part; they meet in the folder of the rounds.
  together="together-$epsilon"
  mkdir -p "$together/rounds"
  {
    sed -e '/expect:/d' -e "s/clinic-2026/clinics-2026/" release.yaml
    echo 'holders: {keys: {north: north/key.pub, east: east/key.pub, south: south/key.pub}, units: disjoint, trusted: 3}'
  } > holders.yaml
  ./dprelease plan holders.yaml -o "$together" > /dev/null
  for hospital in north east south; do
    ./dprelease holder sign "$together/clinics-2026.plan.json" --holder-key "$hospital/key" -o "$together" > /dev/null
  done
  for hospital in north east south; do
    ./dprelease measure "$together/clinics-2026.plan.json" --holder "$hospital" --holder-key "$hospital/key" \
      --rounds "$together/rounds" --data "$hospital" -o "$together/$hospital" > "$together/$hospital.txt" &
  done
  wait
  ./dprelease combine "$together"/*/clinics-2026.*.share -o "$together" > /dev/null
  ./dprelease publish "$together/clinics-2026.measured" -o "$together" > /dev/null
  ./dprelease predict "$together/clinics-2026/models/risk.json" data/next.csv --out "predicted-together-$epsilon.csv"
done
(cd "$example" && go run ./compare "$OLDPWD" 0.25 0.5 1 2 4)
