#!/bin/sh
# Three hospitals make one release, and then the same from pooled data, for comparison. All of it happens below one
# folder, with a folder for each hospital, one for the office that plans and publishes, and one for what all share:
#
#   examples/federated/run.sh [FOLDER]
set -eu
example=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:-federated}"
cd "${1:-federated}"
(cd "$example" && go build -o "$OLDPWD/dprelease" ../../cmd/dprelease && go run ./generate "$OLDPWD/data")
say() { printf '\n== %s\n' "$*"; }

say 'Each hospital makes a key, and gives its public key to the office'
mkdir -p shared/keys
cp "$example/release.yaml" "$example/wards.csv" shared
for hospital in north east south; do
  mkdir -p "$hospital"
  ./dprelease holder key "$hospital/key"
  cp "$hospital/key.pub" "shared/keys/$hospital.pub"
done

say 'The office plans; every hospital reads the plan and signs it'
./dprelease plan shared/release.yaml -o shared
for hospital in north east south; do
  ./dprelease holder sign shared/sepsis-2026.plan.json --holder-key "$hospital/key" -o shared
done

say 'Each hospital measures its own patients; only its share leaves the hospital'
for hospital in north east south; do
  ./dprelease measure shared/sepsis-2026.plan.json --holder "$hospital" --holder-key "$hospital/key" \
    --data "data/$hospital" -o "$hospital"
done

say 'The office adds the shares, publishes the sum, and anybody verifies it'
./dprelease combine ./*/sepsis-2026.*.share -o office
./dprelease publish office/sepsis-2026.measured -o office
./dprelease verify office/sepsis-2026

say 'The same release from pooled data, with the same law of noise'
sed -e '/^holders:/,/^  trusted:/d' -e 's/delta: 1e-7}/delta: 1e-7, noise: laplace}/' shared/release.yaml > shared/pooled.yaml
./dprelease run shared/pooled.yaml --data data/pooled -o pooled

say 'Days by kind of ward: by three hospitals, and from pooled data'
./dprelease show office/sepsis-2026 days
./dprelease show pooled/sepsis-2026 days
