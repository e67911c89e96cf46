#!/usr/bin/env bash
# Placement by the bundled workloads, and `heddle study locality`.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
few=(--mode timing --set gpu.sm_count=6 --no-progress) # pages and blocks should not fall to members alike

# bytes: between GPUs, over all launches of the file stats.
bytes() {
    python3 -c 'import json
print(sum(int(launch["metrics"]["heddle__peer_bytes.sum"]) for launch in json.load(open("stats"))["launches"]))'
}

# ---- workloads: what is placed is right, and crosses between GPUs less ----

for system in h200 r9nano; do
    while read -ra workload; do
        run bench "${workload[@]}" --system $system "${few[@]}" --unified 3 --json stats
        expect_line out ': ok; '
        spread=$(bytes)
        run bench "${workload[@]}" --system $system "${few[@]}" --unified 3 --locality yes --json stats
        expect_status 0
        expect_line out ': ok; '
        placed=$(bytes)
        ((placed < spread)) || fail "$ran: $placed bytes between GPUs, and $spread without placement"
    done <<'END'
aes --n 10000
bitonic --log 14 --sorted 13
fir --n 20000
kmeans --n 10000 --rounds 1
transpose --width 200 --height 300
matmul_tiled --m 300 --n 80 --k 100
matmul_naive --m 300 --n 80 --k 100
simpleconvolution --width 200 --height 150
END
done
for sorted in 3 8 9 10; do
    run bench bitonic --log 11 --sorted $sorted
    expect_line out '^bitonic: ok'
done

# One GPU has nothing to place.
run bench fir --n 4000 "${few[@]}" --json plain
run bench fir --n 4000 "${few[@]}" --locality yes --json placed
cycles() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["launches"][0]["metrics"])' "$1"; }
expect_same 'one GPU, with and without --locality' "$(cycles plain)" "$(cycles placed)"
run bench fir --n 4000 --locality yes --mode functional
expect_line out '^fir: ok'

# ---- the study ----

run study locality --quick --only workload=FIR --gpus 2 --set gpu.sm_count=4 --json study.json --svg plots --no-progress
expect_status 0
expect_line out '^Figure 9a: speedup over a single GPU; columns: model of use$'
expect_line out '^FIR +1.00 +[0-9.]+ +[0-9.]+ +[0-9.]+$'
expect_line out '^FIR +0.00 +0.00 +1.00 +0.0[0-9]$'
python3 - <<'END' || fail 'the study is wrong'
import json, os
points = {point["labels"]["model"]: point for point in json.load(open("study.json"))["points"]}
value = lambda model, metric: points[model]["metrics"][metric]
assert "system.monolithic=2" in points["monolithic"]["command"]
assert "system.gpus=2" in points["locality"]["command"] and "--locality yes" in points["locality"]["command"]
assert value("single", "heddle__peer_bytes.sum") == value("monolithic", "heddle__peer_bytes.sum") == 0
assert 0 < value("locality", "heddle__peer_bytes.sum") < 0.1 * value("unified", "heddle__peer_bytes.sum")
time = lambda model: value(model, "gpu__time_duration.sum")
assert time("locality") < time("unified") and time("monolithic") < time("single"), points
assert sorted(os.listdir("plots")) == ["speedup.svg", "total.svg", "traffic.svg"]
END

# ---- bad input ----

refuses '^heddle: bitonic: sorted is not less than log$' bench bitonic --log 10 --sorted 10
refuses "^heddle: --locality: .*'maybe'" bench fir --locality maybe
refuses "^heddle: --gpus: expected a whole number from 1 to 64, not '65'$" study locality --gpus 65
refuses "^heddle: --gpus: expected a whole number from 1 to 64, not '0'$" study locality --gpus 0
refuses '^heddle: --gpus: .*cache-size.ini has no number of GPUs; --set system.gpus=N is for all points$' study cache-size --gpus 2
true
