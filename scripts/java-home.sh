#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints the home of a Java that Spark runs on (17 or 21), or nothing and exit 1.
set -u

usable() {
  [ -x "$1/bin/java" ] || return 1
  local version
  version=$("$1/bin/java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1)
  [ "$version" = 17 ] || [ "$version" = 21 ]
}

candidates() {
  [ -n "${JAVA_HOME:-}" ] && echo "$JAVA_HOME"
  local java
  if java=$(command -v java); then
    # Follows the links of Debian's alternatives; macOS has a stub there, which `usable` rejects.
    java=$(readlink -f "$java" 2>/dev/null || echo "$java")
    dirname "$(dirname "$java")"
  fi
  [ -x /usr/libexec/java_home ] && /usr/libexec/java_home -v 17 2>/dev/null
  [ -x /usr/libexec/java_home ] && /usr/libexec/java_home -v 21 2>/dev/null
  ls -d /usr/lib/jvm/* /opt/homebrew/opt/openjdk@17 /opt/homebrew/opt/openjdk@21 2>/dev/null
}

while IFS= read -r home; do
  if usable "$home"; then
    echo "$home"
    exit 0
  fi
done < <(candidates)
exit 1
