# Random systems give the same results on any number of ranks and threads; and with a checkpoint that another
# number of ranks has written.
set -euo pipefail
command -v mpirun >/dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
over() { # RANKS THREADS
    mpirun -q --oversubscribe --bind-to none ${root:+--allow-run-as-root} -n "$1" "$PROGRAM" "$folder" "$first" "$end" "$2"
}
root=
[[ $EUID != 0 ]] || root=yes
first=0 end=${SYSTEMS:-40} # 200 take two minutes of two cores
"$PROGRAM" "$folder" "$first" "$end" 1 >"$folder/serial"
[[ $(wc -l <"$folder/serial") -ge $end ]]
for how in '2 1' '3 1' '4 2' '8 1'; do
    # shellcheck disable=SC2086
    over $how >"$folder/ranks"
    # those with fewer islands than ranks are left out of both
    grep 'too small' "$folder/ranks" | cut -d' ' -f1 | sort >"$folder/small" || true
    for file in serial ranks; do
        awk -v small="$folder/small" 'BEGIN { while ((getline line < small) > 0) skip[line] = 1 } !($1 in skip)' \
            "$folder/$file" >"$folder/$file.same"
    done
    cmp "$folder/serial.same" "$folder/ranks.same"
    echo "$how (ranks, threads): $(wc -l <"$folder/ranks.same") results are the same"
done
