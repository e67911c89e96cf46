#!/usr/bin/env bash
# Pages that move between GPUs: results and statistics under each policy, limits, bad input, and `heddle study pasi`.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
few=(--mode timing --set gpu.sm_count=4 --no-progress)

# sum METRIC: of the file stats, over all launches.
sum() {
    python3 -c 'import json, sys
print(sum(int(launch["metrics"][sys.argv[1]]) for launch in json.load(open("stats"))["launches"]))' "$1"
}

# what FILE: all of it that a run decides, and not the host.
what() {
    python3 -c 'import json, sys
stats = json.load(open(sys.argv[1]))
print(stats["launches"], stats.get("links"), stats.get("copies"))' "$1"
}

# ---- results are right, whatever moves pages; unified and apart, AMD and NVIDIA ----

for policy in pm esi ps; do
    paging=(--set paging.policy=$policy)
    [[ $policy = ps ]] && paging+=(--set paging.page=64KiB)
    while read -ra workload; do
        run bench "${workload[@]}" --system r9nano-x4 --unified 4 "${few[@]}" "${paging[@]}" --json stats
        expect_status 0
        expect_line out ': ok; '
        ((0 < $(sum heddle__pages_received.sum))) || fail "$ran: no page has moved"
        ((0 == $(sum heddle__host_bytes.sum))) || fail "$ran: pages went to the host"
        run bench "${workload[@]}" --system h200 --unified 3 "${few[@]}" "${paging[@]}"
        expect_status 0
        expect_line out ': ok; '
    done <<'END'
fir --n 20000
bfs --nodes 2000
transpose --width 100 --height 130
histogram --n 20000
END
    run bench allreduce --gpus 3 "${few[@]}" "${paging[@]}" # kernels of several GPUs that wait for each other's flags
    expect_status 0
    expect_line out ': ok; '
done

# ---- the same bytes with any number of threads, and through a checkpoint ----

for policy in pm ps; do
    same=(bench kmeans --n 3000 --rounds 2 --system r9nano-x2 --unified 2 "${few[@]}" --set paging.policy=$policy)
    run "${same[@]}" --threads 1 --json one
    run "${same[@]}" --threads 3 --json three
    expect_same "statistics of $policy with 1 and 3 threads" "$(what one)" "$(what three)"
    run "${same[@]}" --threads 2 --checkpoint saved --checkpoint-at 20000
    expect_line err '^heddle: checkpoint .*saved written at cycle 20000'
    run "${same[@]}" --resume saved --json resumed
    expect_status 0
    expect_line out ': ok; '
    expect_same "statistics of $policy through a checkpoint" "$(what one)" "$(what resumed)"
done

# ---- the host changes pages that a kernel uses ----

gcc -Wall -Wextra -Werror -o host_changes "$HEDDLE_HOME/tests/programs/host_changes.c" \
    -L"$(dirname "$HEDDLE")/cuda" -l:libcuda.so.1 || fail 'host_changes.c does not compile'
for policy in none pm esi ps; do
    run run --unified 3 "${few[@]}" --set paging.policy=$policy ./host_changes "$HEDDLE_HOME/tests/programs/host_changes.ptx"
    expect_status 0
    expect_line out 'host_changes: ok'
done

# ---- sharing needs fewer moves; GPUs without room send pages to the host ----

share=(bench matmul_tiled --m 128 --n 64 --k 64 --system r9nano-x2 --unified 2 "${few[@]}")
run "${share[@]}" --set paging.policy=pm --json stats
migrated=$(sum heddle__pages_received.sum)
run "${share[@]}" --set paging.policy=esi --json stats
((0 < $(sum heddle__pages_received.sum) && $(sum heddle__pages_received.sum) <= migrated)) ||
    fail "esi moves more pages than pm ($migrated)"
run bench fir --n 60000 --system r9nano-x2 --unified 2 "${few[@]}" --set paging.policy=esi --set paging.room=64KiB
expect_status 0
expect_line out ': ok; '

# ---- what is told: the summary has pages, statistics the interleaving that was used, and a scalar load is called that ----

large=(--set paging.policy=ps --set paging.page=2MiB)
run bench kmeans --rounds 1 --system r9nano-x4 --unified 4 --set gpu.sm_count=8 --no-progress "${large[@]}" --json stats
expect_status 0
expect_line out "^pages: $(sum heddle__pages_wanted.sum) wanted by kernels, $(sum heddle__pages_received.sum) received \(.*\), "
expect_line out "^pages: .* $(sum heddle__pages_dropped.sum) dropped for others\$"
expect_line stats '"interleave": "2MiB"'
grep -q 'shared memory and special functions' out && fail "$ran: AMD's scalar loads are called something else"
tr -s '\n ' ' ' <out | grep -q 'latency of scalar loads: warps wait' || fail "$ran: scalar loads are not named"
run bench fir --n 20000 --system r9nano-x2 --unified 2 "${few[@]}" --set paging.policy=pm --set system.interleave=64KiB --json stats
expect_line stats '"interleave": "64KiB"' # larger ones are as they were set
run bench fir --n 20000 --system r9nano-x2 --unified 2 "${few[@]}" --json stats
expect_line stats '"interleave": "4KiB"'
grep -q '^pages:' out && fail "$ran: pages stay, and are told of"

# ---- bad input ----

refuses '^heddle: .*paging.policy: expected one of none.pm.esi.ps, ' run --set paging.policy=lru true
refuses '^heddle: .*paging.page: .*power of two' bench fir --gpus 2 --mode timing --set paging.policy=pm --set paging.page=5000B
refuses '^heddle: system.interleave cannot be less than paging.page .64KiB.: ' \
    bench fir --unified 2 --mode timing --set paging.policy=pm --set paging.page=64KiB --set system.interleave=4KiB
refuses '^heddle: .*paging.page_least cannot be more' \
    bench fir --gpus 2 --mode timing --set paging.policy=ps --set paging.page_least=8KiB

# ---- the study ----

run study pasi --quick --only workload=FIR --gpus 2 --set gpu.sm_count=4 --json study.json --svg plots --no-progress
expect_status 0
expect_line out 'Figure 11'
[[ -s plots/speedup.svg ]] || fail 'heddle study pasi: there is no plot'
python3 - <<'END' || fail "heddle study pasi: $(head -c 500 study.json)"
import json
points = {point["labels"]["policy"]: point["metrics"] for point in json.load(open("study.json"))["points"]}
assert set(points) == {"single", "dca", "pm", "esi", "ps", "ps-la"}, set(points)
moved = lambda policy: points[policy]["heddle__pages_received.sum"]
assert moved("single") == moved("dca") == 0 < min(moved("pm"), moved("esi"), moved("ps")), points
END
