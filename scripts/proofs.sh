#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the proofs under proofs/ with Coq, from scratch, and that they rest on no axioms.
set -euo pipefail
cd "$(dirname "$0")/../proofs"

stop() {
  echo "proofs: $1" >&2
  exit 1
}

for tool in coqc coqchk; do
  command -v "$tool" >/dev/null ||
    stop "needs $tool, of Coq 8.16 or later (Debian: apt-get install --no-install-recommends coq)"
done

# Compiled elsewhere, so that nothing left over from an earlier run can stand in for a proof.
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
mapfile -t files < <(grep '\.v$' _CoqProject)
[ "$(printf '%s\n' "${files[@]}" | LC_ALL=C sort)" = "$(printf '%s\n' *.v | LC_ALL=C sort)" ] ||
  stop "_CoqProject does not list the files that are there"
cp -- *.v "$build"
cd "$build"

for file in "${files[@]}"; do
  echo "$file"
  coqc -Q . Presieve "$file" >"$file.out" || stop "$file does not compile"
done

# Every theorem that Assumptions.v names, by itself.
asked=$(grep -c '^Print Assumptions' Assumptions.v)
closed=$(grep -c '^Closed under the global context$' Assumptions.v.out || true)
[ "$asked" -gt 0 ] && [ "$asked" = "$closed" ] || {
  cat Assumptions.v.out >&2
  stop "of $asked theorems only $closed are closed under the global context"
}

# And everything that was compiled, by Coq's independent checker.
echo "coqchk"
modules=("${files[@]/#/Presieve.}")
summary=$(coqchk -silent -o -Q . Presieve "${modules[@]%.v}" 2>&1) || stop "$summary"
for kind in "Axioms" "Constants/Inductives relying on type-in-type" \
  "Constants/Inductives relying on unsafe (co)fixpoints" "Inductives whose positivity is assumed"; do
  grep -qF "* $kind: <none>" <<<"$summary" || stop "$summary"
done
echo "$asked theorems and what they rest on are checked; no axioms"
