#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes .venv, and sees to Java 17 or 21:
#   scripts/setup.sh         with everything that checks and tests need, and a browser for tests of pages
#   scripts/setup.sh demo    with what presieve itself needs
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
  "") extra=dev ready=.venv/.ready ;;
  demo) extra=spark ready=.venv/.demo ;;
  *)
    echo "usage: scripts/setup.sh [demo]" >&2
    exit 2
    ;;
esac

stop() {
  echo "setup: $1" >&2
  exit 1
}

# Installs system packages, without those that they only recommend, where that needs no questions:
# as root, or with a sudo that asks nothing.
apt_install() {
  command -v apt-get >/dev/null || return 1
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    sudo -n true 2>/dev/null || return 1
    as_root=(sudo -n)
  fi
  "${as_root[@]}" apt-get update -qq >&2 || return 1
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >&2
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

echo "setup: packages of Python into .venv; some minutes" >&2
.venv/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[$extra]"

if ! scripts/java-home.sh >/dev/null; then
  echo "setup: no Java 17 or 21 found, installing one" >&2
  apt_install openjdk-17-jre-headless || apt_install openjdk-21-jre-headless || true
  scripts/java-home.sh >/dev/null ||
    stop "Spark needs Java 17 or 21: install one (Debian: apt-get install openjdk-17-jre-headless) or set JAVA_HOME"
fi

# Pages are tested in a real browser. Without one those tests are skipped, everything else works.
have_browser() {
  command -v chromium || command -v chromium-browser || command -v google-chrome
}

if [ "$extra" = dev ] && ! have_browser >/dev/null; then
  echo "setup: no Chromium found, installing one" >&2
  apt_install chromium ||
    echo "setup: none to be had, tests of pages in a browser will be skipped" >&2
fi

touch "$ready"
