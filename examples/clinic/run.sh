#!/bin/sh
# The model of release.yaml at five budgets, each judged by the stays of the next year, which nobody fitted anything to:
#
#   examples/clinic/run.sh [FOLDER]
#
# At each budget it makes a release, predicts the next year, and at the end compares: FOLDER/auc.svg.
set -eu
example=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:-clinic}"
cd "${1:-clinic}"
(cd "$example" && go build -o "$OLDPWD/dprelease" ../../cmd/dprelease && go run ./generate "$OLDPWD/data")
for epsilon in 0.25 0.5 1 2 4; do
  sed "s/epsilon: 2,/epsilon: $epsilon,/" "$example/release.yaml" > release.yaml
  ./dprelease run release.yaml -o "epsilon-$epsilon" > "run-$epsilon.txt"
  ./dprelease predict "epsilon-$epsilon/clinic-2026/models/risk.json" data/next.csv --out "predicted-$epsilon.csv"
done
(cd "$example" && go run ./compare "$OLDPWD" 0.25 0.5 1 2 4)
