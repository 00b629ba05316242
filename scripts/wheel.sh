#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds sdist and wheel, checks both with twine, and tries the wheel where nothing of this checkout
# is: in a fresh virtual environment, first without extras, then with those of cvc5 and Spark.
# KEEP=DIR leaves both files in DIR.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-.venv/bin/python}
[ -z "${KEEP:-}" ] || KEEP=$(realpath -m "$KEEP")
unset PYTHONPATH PYTHONHOME PRESIEVE_DISABLE PRESIEVE_DEBUG
export PRESIEVE_CACHE=off PIP_DISABLE_PIP_VERSION_CHECK=1

java=$(scripts/java-home.sh) || {
  echo "wheel: Spark needs Java 17 or 21: set JAVA_HOME" >&2
  exit 1
}
python=$(cd "$(dirname "$python")" && pwd)/$(basename "$python")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

say() { echo "wheel: $1" >&2; }

say "building"
"$python" -m build --outdir "$work/dist" . >"$work/build.log" 2>&1 || {
  cat "$work/build.log" >&2
  exit 1
}
wheel=$(echo "$work"/dist/*.whl)
"$python" scripts/wheel_contents.py "$work"/dist/*
"$python" -m twine check --strict "$work"/dist/* >"$work/twine.log" 2>&1 || {
  cat "$work/twine.log" >&2
  exit 1
}

say "installing without extras"
"$python" -m venv "$work/env"
"$work/env/bin/pip" install --quiet "$wheel"

cp scripts/wheel_jobs.py "$work/jobs.py"
cp scripts/wheel_spark.py "$work/job.py"
cd "$work"
PATH=$work/env/bin:$PATH
hash -r

# expect CODE TEXT COMMAND...: the exit code, and a text in what is printed, in any case.
expect() {
  local code=$1 text=$2 found=0
  shift 2
  "$@" >out 2>&1 || found=$?
  if [ "$found" -ne "$code" ] || ! grep -qiF -- "$text" out; then
    say "\`$*\` gave exit code $found, not $code with '$text':"
    cat out >&2
    exit 1
  fi
}

# refuses TEXT COMMAND...: one line, and exit code 2.
refuses() {
  expect 2 "$@"
  if [ "$(wc -l <out)" -ne 1 ]; then
    say "\`${*:2}\` says more than a line:"
    cat out >&2
    exit 1
  fi
}

top_two=(jobs.py:TopTwo --schema "score double NOT NULL"
  --returns "first double, second double" --where "first >= 90 AND second >= 90")

say "trying it without Spark"
expect 0 "$work/env" python -c 'import presieve; print(presieve.__file__)'
expect 0 "usage" presieve --help
expect 0 "presieve $(basename "$wheel" | cut -d- -f2)" presieve --version
expect 0 "score >= 90.0D" presieve synth "${top_two[@]}" --save top_two.json
expect 0 "proved" presieve verify "${top_two[@]}" --prefilter "score >= 80"
expect 1 "refuted" presieve verify "${top_two[@]}" --prefilter "score > 91"
expect 0 "score >= 90.0D" presieve check top_two.json
refuses "pip install '.[cvc5]'" presieve check top_two.json --solver cvc5
expect 0 "" presieve cache
expect 0 "error" presieve why may-erase-error
expect 0 "NaN" presieve why no-nan
refuses "pip install '.[spark]'" presieve demo
refuses "pip install '.[spark]'" presieve run job.py
refuses "pip install '.[spark]'" presieve explain job.py
refuses "the benchmarks are in the source tree" presieve bench
refuses "the benchmarks are in the source tree" presieve bench synth --json --runs 1
expect 0 "no pyspark" python jobs.py

say "installing with [cvc5,spark]"
pip install --quiet "$wheel[cvc5,spark]"

say "trying it with both"
expect 0 "score >= 90.0D" presieve check top_two.json --solver cvc5
export JAVA_HOME=$java
expect 0 "equal, pushed" python job.py --direct
expect 0 "score >= 90.0D" presieve explain --budget 120 job.py --html report.html
expect 0 "<style" cat report.html
expect 0 "score >= 90.0D" presieve run --budget 120 job.py

if [ -n "${KEEP:-}" ]; then
  mkdir -p "$KEEP"
  cp "$work"/dist/* "$KEEP"
fi
say "good: $(basename "$wheel")"
