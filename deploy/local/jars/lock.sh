#!/bin/sh
# Print the lock of what an Ivy file resolves to: lock.sh ivy.xml > ../warren_local/jars.lock
# Ivy is the one inside pyspark. Spark's and Delta's versions are those that are installed.
set -eu
python=$(cd "$(dirname "$0")/../../.." && pwd)/.venv/bin/python
into=$(mktemp -d)
trap 'rm -rf "$into"' EXIT
java "-Divy.default.ivy.user.dir=$into/ivy" \
  "-Dwarren.spark=$("$python" -c 'from importlib.metadata import version; print(version("pyspark"))')" \
  "-Dwarren.delta=$("$python" -c 'from importlib.metadata import version; print(version("delta-spark"))')" \
  -jar "$("$python" -c 'import pyspark, pathlib; print(*pathlib.Path(pyspark.__file__).parent.glob("jars/ivy-*.jar"))')" \
  -ivy "$1" -confs default -types jar bundle \
  -retrieve "$into/jars/[orgPath]/[module]/[revision]/[artifact]-[revision](-[classifier]).[ext]" >&2
cd "$into/jars"
find . -name '*.jar' | LC_ALL=C sort | sed 's#^\./##' | xargs sha256sum
