#!/usr/bin/env bash
# Golden points: cycles, instructions and bytes of the model are those of tests/golden/points.csv, to the last one.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
HEDDLE=$HEDDLE "$HEDDLE_HOME/tools/golden" --check >out 2>&1 || fail "$(cat out)"
