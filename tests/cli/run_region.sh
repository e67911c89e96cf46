#!/usr/bin/env bash
# Which launches are timed and recorded: by numbers, names of kernels, NVTX ranges, and where a profiler is on.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
needs gcc
needs python3
libraries=$(dirname "$HEDDLE")/cuda source=$HEDDLE_HOME/tests/programs/region.c
small=(--set gpu.sm_count=2)
gcc -pthread -o region "$source" -L"$libraries" -l:libcuda.so.1 -ldl || fail 'region.c does not compile'
programs=(region)
header=$(command -v nvcc) && header=$(dirname "$(readlink -f "$header")")/../include/nvtx3
if [[ -d $header ]]; then
    gcc -DNVTX -pthread -o region.nvtx "$source" -I"$header/.." -L"$libraries" -l:libcuda.so.1 -ldl ||
        fail 'region.c does not compile with the header of NVTX'
    programs+=(region.nvtx)
else
    skip "NVTX's own header: no nvcc here"
fi

# timed WHAT OPTION...: the launches that have cycles
timed() {
    local want=$1
    shift
    run run --mode timing "${small[@]}" --stats stats.json "$@" "./$program"
    expect_status 0
    expect_line out '^region: ok$'
    python3 -c 'import json, sys
launches = json.load(open("stats.json"))["launches"]
print(*[i for i, launch in enumerate(launches) if "gpc__cycles_elapsed.max" in launch["metrics"]])' >which
    [[ $(<which) == "$want" ]] || fail "$*: launches $(<which) are timed, not $want"
}

for program in "${programs[@]}"; do
    timed '0 1 2 3 4 5 6'
    timed '1 2 3' --region 'nvtx:outer*'
    timed '2' --region nvtx:inner
    timed '1 2 3 5' --region 'nvtx:*o[uf]*'
    timed '5' --region 'nvtx:all of it'
    timed '3 4' --region profiler
    timed '2 3' --region 'nvtx:outer loop' --kernels 2,3-
    timed '3' --region profiler --kernels mul
    timed '' --region nvtx:nothing
    expect_line err '^heddle: no launch was in the region nvtx:nothing: none was timed or recorded$'
done

program=region
timed '0 2 4 6' --kernels 'add'
timed '0 2 4 6' --kernels 'add<int>'
timed '0 2 4 6' --kernels '_Z3add*'
timed '1 3 5' --kernels 'm?l'
timed '0 1 2 3 4 6' --kernels '0-1,add*,3'
timed '' --kernels 'nothing'
refuses --kernels run --kernels '1,' ./region
refuses "--region: expected profiler or nvtx:NAME, not 'inner'" run --region inner ./region
refuses '--region needs --mode timing' run --mode functional --region profiler ./region
HEDDLE_REGION=inner run run ./region
expect_status 2
expect_line err "HEDDLE_REGION: expected profiler or nvtx:NAME, not 'inner'"

# recorded, and replayed in part
run run --mode functional --region profiler --record trace ./region
expect_status 0
run replay trace "${small[@]}" --no-progress
expect_line out '^replayed 2 of 7 launches'
run replay trace "${small[@]}" --no-progress --kernels 'add*'
expect_line out '^replayed 1 of 7 launches'
