#!/usr/bin/env bash
# Builds the Python package and the extension for DuckDB, and tests both in an environment of
# their own.
# Needs Python 3.11 or later with venv. Installs the rest under target/python.
set -euo pipefail
cd "$(dirname "$0")/.."

# The profile of the build: that of tests, which is enough for them, or `release`.
# `python/test.sh environment` only installs what the tests need.
profile=${1:-dev}
# The limit of a released wheel, in bytes.
most_bytes=6000000
environment=$PWD/target/python
wheels=$PWD/target/wheels

python=
for candidate in "${PYTHON:-}" python3 /usr/bin/python3 python3.14 python3.13 python3.12 python3.11; do
    if [ -n "$candidate" ] && "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ]; then
    echo "python/test.sh: no Python 3.11 or later with venv: install python3 and python3-venv, or set PYTHON" >&2
    exit 1
fi

[ -x "$environment/bin/pip" ] || "$python" -m venv --clear "$environment"
"$environment/bin/pip" install --quiet --disable-pip-version-check -r python/requirements.txt
[ "$profile" != environment ] || exit 0

# The tests of the column functions in Rust.
cargo test --quiet --profile "$([ "$profile" = release ] && echo release || echo test)" \
    --package fyke-py --features python,gpu --lib

rm -rf "$wheels"
"$environment/bin/maturin" build --quiet --profile "$profile" --out "$wheels"
wheel=$(echo "$wheels"/fyke-*.whl)
bytes=$(wc -c <"$wheel")
echo "python/test.sh: $(basename "$wheel") has $bytes bytes"
if [ "$bytes" -gt "$most_bytes" ]; then
    echo "python/test.sh: the wheel has more than $most_bytes bytes" >&2
    exit 1
fi

# A fresh environment with nothing but the wheel: it needs no other package.
rm -rf target/python-fresh
"$environment/bin/python" -m venv target/python-fresh
target/python-fresh/bin/pip install --quiet --disable-pip-version-check --no-index "$wheel"
(cd target && python-fresh/bin/python -c '
import fyke
searcher = fyke.Searcher(["he", "she", "hers"])
assert list(searcher.scan("ushers")) == [(1, 1, 4), (0, 2, 4), (2, 2, 6)]
assert fyke.count_matches(["ushers", None], searcher).to_pylist() == [3, None]
')
rm -rf target/python-fresh

"$environment/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps --no-index "$wheel"
# All libraries were installed above, so no test may be skipped for want of one.
names=$(sed -n 's/^\([a-z-]*\)[[>=].*/\1/p' python/requirements.txt | tr - _ | paste -sd, -)
export FYKE_REQUIRE=$names

cargo xtask duckdb --profile "$profile"
export FYKE_DUCKDB_EXTENSION=$PWD/target/duckdb/fyke.duckdb_extension

# Spark itself, if there is Java, in a process of its own, which may have one kind of session.
spark=
if command -v java >/dev/null; then
    FYKE_SPARK=java "$environment/bin/python" -m pytest --quiet python/tests/test_dist_engines.py \
        -k spark >target/pyspark.log 2>&1 &
    spark=$!
else
    echo "python/test.sh: skipped: Spark on Java, because there is no java; Sail takes its place" >&2
fi
"$environment/bin/python" -m pytest --quiet python/tests
if [ -n "$spark" ]; then
    failed=0
    wait "$spark" || failed=$?
    cat target/pyspark.log
    exit "$failed"
fi
