#!/usr/bin/env bash
# The tutorial: each command of docs/tutorial works, and prints what its page shows (tests/cli/tutorial.py).
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
needs python3
needs cc

mkdir bin
ln -s "$HEDDLE" bin/heddle
export PATH=$folder/bin:$PATH CPATH=$HEDDLE_HOME/include
checker=$HEDDLE_HOME/tests/cli/tutorial.py

# check PAGE: in a folder of its own.
check() {
    mkdir "$folder/page" && (cd "$folder/page" && python3 "$checker" "$1") >said 2>&1
    local status=$?
    rm -rf "$folder/page"
    return "$status"
}

pages=0
for page in "$HEDDLE_HOME"/docs/tutorial/[0-9]*.md; do
    check "$page" || fail "$(cat said)"
    grep -qF "(${page##*/})" "$HEDDLE_HOME/docs/tutorial/README.md" || fail "README.md does not name ${page##*/}"
    pages=$((pages + 1))
done
[[ $pages == 5 ]] || fail "$pages pages, not 5"

# ---- the gallery has every picture, and no other ----

diff <(cd "$HEDDLE_HOME/docs" && find . \( -name '*.svg' -o -name '*.png' \) | sed 's,^\./,,' | sort) \
    <(grep -oE '\([a-z0-9/._-]+\.(svg|png)\)' "$HEDDLE_HOME/docs/gallery.md" | tr -d '()' | sort -u) >said ||
    fail "pictures of docs, and of docs/gallery.md: $(cat said)"

# ---- pages that rot are found ----

# rots REGEX TEXT: a page of this text fails, and says why.
rots() {
    printf '%b' "$2" >rotten.md
    check "$folder/rotten.md" && fail "this page should fail: $2"
    grep -qE -- "$1" said || fail "expected '$1', not: $(cat said)"
}
# shellcheck disable=SC2016
{
    rots 'exit status 1' '```sh\nfalse\n```\n```text\n...\n```\n'
    rots 'exit status 1 before line 5' '```sh\nfalse\n```\n```sh\necho a\n```\n```text\na\n```\n'
    rots ':5: shown: b' '```sh\necho a\n```\n```text\nb\n```\n'
    rots ':5: shown: 100 us' '```sh\necho 88 us\n```\n```text\n100 us\n```\n'
    rots ':6: shown: nothing, but there is: b' '```sh\nprintf "a\\nb\\n"\n```\n```text\na\n```\n'
    rots ':5: shown: b' '```sh\nprintf "a\\nb\\n"\n```\n```text\nb\na\n```\n'
    rots ':6: shown: a' '```sh\nprintf "b\\nc\\n"\n```\n```text\nb\na\n```\n'
    rots 'a page has commands' 'text\n'
    printf '%b' '```sh\nprintf "1,050 us\\nx\\nat 0.3 s\\n"\n```\n```text\n1,000 us\n...\nat <N> s\n```\n' >good.md
}
check "$folder/good.md" || fail "$(cat said)"
