#!/usr/bin/env bash
# Makes .venv with everything that the demo and the tests need, and sees to Java 17 or 21.
set -euo pipefail
cd "$(dirname "$0")/.."

stop() {
  echo "setup: $1" >&2
  exit 1
}

# Installs system packages where that needs no questions: as root, or with a sudo that asks nothing.
apt_install() {
  command -v apt-get >/dev/null || return 1
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    sudo -n true 2>/dev/null || return 1
    as_root=(sudo -n)
  fi
  "${as_root[@]}" apt-get update -qq >&2 || return 1
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" >&2
}

find_python() {
  local name
  for name in "${PYTHON:-}" python3 python3.13 python3.12 python3.11; do
    [ -n "$name" ] && command -v "$name" >/dev/null || continue
    if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$name"
      return
    fi
  done
  return 1
}

python=$(find_python) || stop "needs Python 3.11 or later: install it, or set PYTHON=/path/to/python"

if ! [ -x .venv/bin/pip ]; then
  # Debian ships venv in a package of its own.
  "$python" -m venv .venv 2>/dev/null || {
    rm -rf .venv
    apt_install python3-venv && "$python" -m venv .venv
  } || stop "cannot make a virtual environment with $python: install its venv module (Debian: apt-get install python3-venv)"
fi

.venv/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'

if ! scripts/java-home.sh >/dev/null; then
  echo "setup: no Java 17 or 21 found, installing one" >&2
  apt_install openjdk-17-jre-headless || apt_install openjdk-21-jre-headless || true
  scripts/java-home.sh >/dev/null ||
    stop "Spark needs Java 17 or 21: install one (Debian: apt-get install openjdk-17-jre-headless) or set JAVA_HOME"
fi

# Pages are tested in a real browser. Without one those tests are skipped, everything else works.
if ! command -v chromium >/dev/null && ! command -v google-chrome >/dev/null; then
  echo "setup: no Chromium found, installing one" >&2
  apt_install chromium || echo "setup: none to be had, tests of pages in a browser will be skipped" >&2
fi

touch .venv/.ready
