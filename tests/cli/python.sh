#!/usr/bin/env bash
# The Python package: its tests, its installation by pip without a network, its example, and types.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
needs python3
export SOURCES=$HEDDLE_HOME HEDDLE HEDDLE_LIBRARY
HEDDLE_LIBRARY=$(dirname "$HEDDLE")/cuda/libheddle.so
export PYTHONPATH=$SOURCES/python PYTHONDONTWRITEBYTECODE=1
unset HEDDLE_HOME

python3 -W error -m unittest discover -s "$SOURCES/tests/python" >out 2>&1 || fail "tests: $(tail -n 40 out)"
python3 "$SOURCES/docs/examples/notebook.py" "$SOURCES/bench/cuda/saxpy.ptx" >out 2>err || fail "notebook.py: $(tail -n 3 err)"
expect_line out '^y\[10\] = 21\.0$'
expect_line out '^SMs,cycles,L2 hit rate$'

# ---- one version, and all in heddle.h that the package calls ----

expect_same 'version of the package' "$(python3 -c 'import heddle; print(heddle.library_version())')" \
    "$(python3 -c 'import heddle; print(heddle.__version__)')"

# ---- pip, from the tree, without a network ----

if python3 -m pip --version >/dev/null 2>&1; then
    cp -r "$SOURCES/pyproject.toml" "$SOURCES/python" .
    mkdir tree && mv pyproject.toml python tree
    python3 -m pip install --no-index --no-deps --target site ./tree >log 2>&1 || fail "pip: $(tail -n 5 log)"
    PYTHONPATH=$folder/site python3 -c 'import heddle; print(heddle.__file__, heddle.library_version())' >out 2>err ||
        fail "the installed package: $(tail -n 2 err)"
    expect_line out "^$folder/site/heddle/__init__.py "
    [[ -e site/heddle/py.typed ]] || fail 'py.typed is not installed'
    find site -maxdepth 1 -name 'heddle-*.dist-info' | grep -q . || fail 'pip has no record of the package'
else
    skip 'installation by pip: no pip here'
fi

if command -v mypy >/dev/null; then
    mypy --strict "$SOURCES/python/heddle" >out 2>&1 || fail "mypy: $(tail -n 5 out)"
fi

# ---- without a library ----

HEDDLE_LIBRARY=/no/such.so python3 -c 'import heddle; heddle.open()' >out 2>err && fail 'a library that is not there is loaded'
expect_line err '^heddle\._library\.HeddleError: /no/such\.so cannot be loaded'
