#!/usr/bin/env bash
# The live view in Debian's Chromium: pause and step by keyboard, what is shown, no error of the console.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
needs chromium
needs chromedriver
run bench vecadd --mode timing --n 1000 --live
if grep -q 'was built without the live view\|needs libmicrohttpd' err; then
    skip "all of it: $(cat err)"
    exit 0
fi
run bench matmul_tiled --m 64 --n 64 --k 8192 --mode timing --set gpu.sm_count=4 --json plain
expect_status 0
ran='live_browser.py'
timeout 120 python3 "$HEDDLE_HOME/tests/cli/live_browser.py" "$HEDDLE" "$folder" >told 2>&1 || fail "$ran: $(tail -n 4 told)"
expect_same_file 'statistics of a run that was looked at' <(figures plain) <(figures looked)
