#!/usr/bin/env bash
# The list of functions that are not supported (docs/cuda.md) is that of the code: each function is in it, and each pattern
# is of some function.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
code=$HEDDLE_HOME/src/runtime/cuda
sed -n 's/^NO_[A-Z]*(\(.*\))$/\1/p' "$code/exports.def" "$code/cuda.def" | sort -u >functions
sed -n '/^<a id="functions">/,/^## Statistics/p' "$HEDDLE_HOME/docs/cuda.md" | sed -n 's/^| \(`[^|]*\) |.*/\1/p' |
    grep -o '`[^`]*`' | tr -d '`' | sort -u >patterns
[[ $(wc -l <functions) -ge 50 && $(wc -l <patterns) -ge 20 ]] || fail 'the lists cannot be read'
touch known
while read -r pattern; do
    # shellcheck disable=SC2053
    while read -r name; do
        [[ $name == $pattern ]] && echo "$name" >>known
    done <functions
    grep -q . <(while read -r name; do [[ $name == $pattern ]] && echo "$name"; done <functions) ||
        fail "docs/cuda.md lists $pattern, and all such functions are supported"
done <patterns
sort -u known >known.sorted
while read -r name; do
    fail "$name is not supported, and docs/cuda.md does not list it"
done < <(comm -23 functions known.sorted)

# what a header of CUDA declares is there
header=/usr/local/cuda/include/cuda_runtime_api.h
if [[ -r $header ]]; then
    for file in "$header" "${header%/*}/cuda.h"; do
        grep -o 'CUD[A-Z]*API cud*a*[A-Z][A-Za-z0-9_]*' "$file" | sed 's/.* //; s/_pts[zd]*$//; s/_ptds$//'
    done | sort -u >declared
    nm -D "$(dirname "$HEDDLE")/cuda/libcudart.so.13" "$(dirname "$HEDDLE")/cuda/libcuda.so.1" |
        sed -n 's/.* [TWi] \([^@]*\).*/\1/p' | sort -u >exported
    while read -r name; do
        fail "$name is declared by CUDA's headers, and is not there"
    done < <(comm -23 declared exported)
fi
