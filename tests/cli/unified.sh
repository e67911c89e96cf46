#!/usr/bin/env bash
# Unified and monolithic GPUs: results, statistics that do not depend on threads or checkpoints, the Locality API in
# CUDA, OpenCL and HIP programs, and bad input.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
programs=$HEDDLE_HOME/tests/programs
library=$(dirname "$HEDDLE")/cuda
few=(--mode timing --set gpu.sm_count=6 --no-progress) # pages and blocks should not fall to members alike

# metric NAME: its sum over all launches of the file stats.
metric() {
    python3 - "$1" <<'END'
import json, sys
print(sum(int(launch["metrics"][sys.argv[1]]) for launch in json.load(open("stats"))["launches"]))
END
}

# seen: all that must be the same: the output and the statistics, without what depends on this computer.
seen() {
    grep -v 'million warp' out
    python3 -c 'import json; stats = json.load(open("stats")); del stats["host"]; print(json.dumps(stats, indent=1))'
}

# ---- workloads ----

for system in h200 r9nano; do
    for gpus in '--unified 1' '--unified 2' '--unified 3' '--unified 4 --set system.interleave=64KiB' '--monolithic 4'; do
        for workload in 'vecadd --n 20000' 'histogram --n 4000 --bins 64 --blocks 8' 'matmul_tiled --m 64 --n 64 --k 64'; do
            # shellcheck disable=SC2086 # words
            run bench $workload --system $system "${few[@]}" $gpus --json stats
            expect_status 0
            expect_line out ': ok; '
            bytes=$(metric heddle__peer_bytes.sum)
            case $gpus in
            '--unified 1' | --monolithic*) ((bytes == 0)) || fail "$ran: $bytes bytes between GPUs" ;;
            *) ((bytes > 0)) || fail "$ran: nothing passed between GPUs" ;;
            esac
        done
    done
done
# lines of other members that are kept need not come again
for system in h200 r9nano; do
    share=(bench matmul_tiled --m 64 --n 64 --k 64 --system $system "${few[@]}" --unified 3 --json stats)
    run "${share[@]}"
    bytes=$(metric heddle__peer_bytes.sum)
    run "${share[@]}" --set l2.peers=1MiB
    expect_line out ': ok; '
    (($(metric heddle__peer_bytes.sum) < bytes && 0 < $(metric heddle__peer_sectors_kept.sum))) ||
        fail "$ran: no line was kept"
done
run bench bfs --nodes 2000 "${few[@]}" --unified 2
expect_line out '^bfs: ok'
run bench vecadd --unified 4 --mode functional
expect_line out '^vecadd: ok'

# ---- the same, however it is run ----

# with WORDS WORD...: heddle so, with the words in place of @
with() {
    local more words=()
    read -ra more <<<"$1"
    shift
    for word; do
        [[ $word == @ ]] && words+=("${more[@]}" --json stats) || words+=("$word")
    done
    run "${words[@]}"
}

# same_always SHARE WORD...: with any number of threads, and from a checkpoint when this share of the first kernel is done
same_always() {
    local share=$1 threads at
    shift
    with '--threads 1' "$@"
    expect_status 0
    seen >straight
    at=$(python3 - "$share" <<'END'
import json, sys
launch = json.load(open("stats"))["launches"][0]
begin, end, cycles = launch["start_ps"], launch["end_ps"], launch["metrics"]["gpc__cycles_elapsed.max"]
print(int((begin + float(sys.argv[1]) * (end - begin)) * cycles / (end - begin)))
END
    )
    for threads in 2 5; do
        with "--threads $threads" "$@"
        expect_same_file "$ran and with 1 thread" straight <(seen)
    done
    rm -f saved
    with "--threads 2 --checkpoint saved --checkpoint-at $at" "$@"
    expect_line err '^heddle: checkpoint .*saved written at cycle'
    expect_same_file "$ran" straight <(seen)
    with '--threads 5 --resume saved' "$@"
    expect_status 0
    expect_same_file "$ran" straight <(seen)
}

same_always 0.5 bench histogram --n 4000 --bins 64 --blocks 8 "${few[@]}" --unified 3 @
same_always 0.5 bench matmul_tiled --m 64 --n 64 --k 64 --system r9nano "${few[@]}" --unified 2 @
same_always 0.5 bench matmul_tiled --m 64 --n 64 --k 64 "${few[@]}" --unified 3 --set l2.peers=64KiB @
same_always 0.4 bench vecadd --n 20000 "${few[@]}" --monolithic 2 @

# ---- the Locality API ----

gcc -Wall -Wextra -Werror -I"$HEDDLE_HOME/include" -o unified "$programs/unified.c" -L"$library" -l:libcuda.so.1 ||
    fail 'unified.c does not compile'
for members in 1 2 4; do
    run run "${few[@]}" --unified $members ./unified "$programs/unified.ptx" timed
    expect_status 0
    expect_line out "^$members members\$"
    expect_line out '^unified: ok$'
    run run --mode functional --unified $members ./unified "$programs/unified.ptx"
    expect_line out '^unified: ok$'
done
run run "${few[@]}" --unified 3 --set l2.peers=1MiB ./unified "$programs/unified.ptx" timed
expect_line out '^unified: ok$'
run run "${few[@]}" --monolithic 3 ./unified "$programs/unified.ptx" timed
expect_line out '^1 members$'
expect_line out '^unified: ok$'
run run "${few[@]}" --unified 2 --set system.interleave=2MiB ./unified "$programs/unified.ptx" timed
expect_line out '^unified: ok$'
same_always 0.5 run "${few[@]}" --unified 3 @ ./unified "$programs/unified.ptx" timed

# What is placed well does not cross between GPUs.
run run "${few[@]}" --unified 2 --stats stats --stats-launches 0-0 ./unified "$programs/unified.ptx" timed
expect_same 'bytes between GPUs, placed' 0 "$(metric heddle__peer_bytes.sum)"
run run "${few[@]}" --unified 2 --stats stats --stats-launches 0-0 ./unified "$programs/unified.ptx" plain
bytes=$(metric heddle__peer_bytes.sum)
((bytes > 30000)) || fail "$bytes bytes between GPUs, where half of 131072 should be remote"

# A program without Heddle
cat >alone.c <<'END'
#include <heddle_locality.h>
#include <stdio.h>
int main(void)
{
    struct heddle_blocks all = {0, 1, 0};
    return printf("%u %d %d %s\n", heddle_locality_members(0), heddle_locality_place_memory(&all, 0, 1, 0),
                  heddle_locality_place_blocks(&all, 1), heddle_locality_error()) < 0;
}
END
gcc -Wall -Wextra -Werror -I"$HEDDLE_HOME/include" -o alone alone.c || fail 'alone.c does not compile'
expect_same 'a program alone' '1 801 801 Heddle is not in this process' "$(./alone)"

# heddle.h
cat >own.c <<'END'
#include <heddle.h>
#include <stdio.h>
#include <stdlib.h>
#define GOOD(call) ((call) ? (printf("%s: %s\n", #call, heddle_error()), exit(1)) : (void)0)
int main(int count, char **words)
{
    const char *settings[] = {"system.gpus=2", "system.unified=yes", "gpu.sm_count=4", NULL};
    static unsigned in[32768], out[32768];
    struct heddle *gpu = heddle_open_timed("h200", settings, 1);
    struct heddle_module *module = count > 1 ? heddle_load(gpu, words[1]) : NULL;
    struct heddle_member member;
    struct heddle_blocks halves[] = {{0, 64, 0}, {64, 128, 1}};
    uint32_t grid[] = {128, 1, 1}, block[] = {256, 1, 1};
    uint64_t at = heddle_alloc(gpu, 0, sizeof in);
    void *arguments[] = {&at};
    GOOD(heddle_member_count(gpu, 0) != 2 || heddle_device_count(gpu) != 1 || heddle_property(gpu, "sm_count") != 8);
    GOOD(heddle_upload(gpu, at, in, sizeof in));
    GOOD(heddle_place_memory(gpu, at, sizeof in / 2, 0));
    GOOD(heddle_place_memory(gpu, at + sizeof in / 2, sizeof in / 2, 1));
    GOOD(heddle_member(gpu, 0, 1, &member));
    GOOD(member.first_sm != 4 || member.sm_count != 4 || member.placed_bytes != sizeof in / 2);
    GOOD(heddle_place_blocks(gpu, halves, 2));
    GOOD(heddle_launch(gpu, 0, module, "step", grid, block, 0, arguments));
    GOOD(heddle_download(gpu, out, at, sizeof out));
    for (unsigned i = 0; i < 32768; i++)
        GOOD(out[i] != 1);
    GOOD(heddle_metric(gpu, 0, "heddle__peer_bytes.sum") != 0);
    GOOD(heddle_release(gpu, at));
    GOOD(heddle_member(gpu, 0, 1, &member) || member.placed_bytes);
    printf("%d %s\n", heddle_place_memory(gpu, at, 1, 0), heddle_error());
    printf("%d %s\n", heddle_member(gpu, 0, 2, &member), heddle_error());
    heddle_close(gpu);
    return 0;
}
END
gcc -Wall -Wextra -Werror -I"$HEDDLE_HOME/include" -o own own.c -L"$library" -lheddle || fail 'own.c does not compile'
LD_LIBRARY_PATH=$library timeout 60 ./own "$programs/unified.ptx" >out 2>err || fail "own: $(head -n 3 out err)"
expect_line out '^1 1 bytes at 0x[0-9a-f]+ are to be placed, and are not all of one allocation$'
expect_line out '^1 there is no member 2: device 0 has 2$'

echo 'int main(void) { return 0; }' >empty.c
if [[ -e $(dirname "$HEDDLE")/opencl/libheddle_opencl.so ]] && gcc -o empty empty.c -lOpenCL 2>/dev/null; then
    gcc -Wall -Wextra -Werror -I"$HEDDLE_HOME/include" -o locality "$programs/opencl/locality.c" -lOpenCL ||
        fail 'locality.c does not compile'
    for gate in '' held; do
        # shellcheck disable=SC2086 # no word, or one
        run run "${few[@]}" --unified 2 --stats stats ./locality "$HEDDLE_HOME/bench/opencl/vecadd.hsaco" $gate
        expect_status 0
        expect_line out '^2 members$'
        expect_line out '^locality: ok$'
    done
else
    skip 'OpenCL: no libOpenCL to link with (ocl-icd-opencl-dev)'
fi

# ---- bad input ----

refuses "^heddle: --unified: expected a whole number from 1 to 64, not '0'$" bench vecadd --unified 0
refuses "^heddle: --unified: expected a whole number from 1 to 64, not '65'$" bench vecadd --unified 65
refuses "^heddle: --unified: expected a whole number from 1 to 64, not '2.5'$" bench vecadd --unified 2.5
refuses "^heddle: --monolithic: expected a whole number from 1 to 64, not '0'$" run --monolithic 0 ./alone
refuses "^heddle: --unified: expected a whole number.*'two'" run --unified two ./alone
refuses '^heddle: --monolithic does not go with --unified: ' run --unified 2 --monolithic 2 ./alone
refuses '^heddle: --gpus does not go with --unified: ' run --unified 2 --gpus 2 ./alone
refuses 'system.interleave: expected 4KiB..1GiB' bench vecadd --set system.interleave=1KiB
refuses 'system.interleave: expected a power of two, and 12288 bytes are not' bench vecadd --set system.interleave=12KiB
refuses 'system.unified: programs cannot share a unified GPU' serve here --set system.gpus=2 --set system.unified=yes
true
