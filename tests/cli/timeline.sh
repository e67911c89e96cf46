#!/usr/bin/env bash
# heddle ... --timeline: files that other programs read, the same for any number of threads; the run is the same, too.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

few=(--mode timing --set gpu.sm_count=4 --threads 1)
job=(bench vecadd --n 20000 "${few[@]}")

# count FILE.json: its events by phase, checked: what begins does not end before, and lies in the run.
count() {
    python3 - "$1" <<'END'
import collections, json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
tracks = {(e["pid"], e["tid"]) for e in events if e["ph"] == "M"}
for e in events:
    if e["ph"] == "X":
        assert e["dur"] >= 0 and (e["pid"], e["tid"]) in tracks and e["name"] and e["cat"], e
phases = collections.Counter(e["ph"] for e in events)
kinds = collections.Counter(e["cat"] for e in events if e["ph"] == "X")
print(" ".join(f"{k}={n}" for k, n in sorted(kinds.items())), f"counts={phases['C']}", f"faults={phases['i']}")
END
}

# decoded FILE: the types of events that protoc finds in it, whose numbers are Perfetto's: 1 begins, 2 ends.
decoded() {
    protoc --decode_raw <"$1" >raw 2>protoc_err || fail "protoc does not read $1: $(head -n 3 protoc_err)"
    printf 'begins=%s ends=%s\n' "$(grep -cE '^    9: 1$' raw)" "$(grep -cE '^    9: 2$' raw)"
}

# The run's results and statistics are the same with it, at each detail; each has more.
run "${job[@]}" --json plain
expect_status 0
cp out plain.out
slices=0
for detail in calls kernels blocks all; do
    run "${job[@]}" --json stats --timeline $detail.json --timeline-detail $detail
    expect_status 0
    expect_same_file "statistics with $detail" <(figures plain) <(figures stats)
    expect_line err "^heddle: timeline .*$detail\.json: [0-9]+ slices; ui\.perfetto\.dev shows it"
    now=$(sed -nE 's/^heddle: timeline .*: ([0-9]+) slices.*/\1/p' err)
    ((now > slices)) || fail "$ran: $now slices are not more than $slices"
    slices=$now
done
expect_same 'details' "$(count calls.json | tr ' ' '\n' | grep -cE '^(call|copy|kernel)=[1-9]')" 3
expect_same 'blocks of the kernel' "$(count blocks.json | grep -oE 'BLOCK=[0-9]+')" \
    "BLOCK=$(python3 -c 'import json; print(eval("*".join(map(str, json.load(open("stats"))["launches"][0]["grid"]))))')"

# A kernel takes as long on its GPU's track as on its stream's, the second and the third one, too.
run bench scan --n 20000 "${few[@]}" --timeline scan.json --timeline-detail kernels
python3 - <<'END' || fail 'kernels on tracks of GPUs and of streams'
import json
events = json.load(open("scan.json"))["traceEvents"]
times = {cat: [(e["name"], e["ts"], e["dur"]) for e in events if e.get("cat") == cat] for cat in ("KERNEL", "kernel")}
assert times["KERNEL"] == times["kernel"] and len(times["kernel"]) == 3, times
END

# Perfetto's format has the same, and is the same for any number of threads.
if has protoc 'reading what is written by a parser that is not ours'; then
    run "${job[@]}" --timeline one.pftrace --timeline-detail all
    expect_status 0
    expect_same 'slices as protoc counts them' "$(decoded one.pftrace)" "begins=$slices ends=$slices"
    run "${job[@]}" --timeline two.pftrace --timeline-detail all --threads 2
    expect_same_file 'timelines of 1 and 2 threads' one.pftrace two.pftrace
fi

# A window: only what is in it, cut to it.
run "${job[@]}" --timeline part.json --timeline-window 10us..15us
expect_status 0
python3 - <<'END' || fail 'slices beyond the window'
import json
slices = [e for e in json.load(open("part.json"))["traceEvents"] if e["ph"] == "X"]
assert slices and all(e["ts"] >= 10 and e["ts"] + e["dur"] <= 15.0000001 for e in slices), slices
END

# Several GPUs: tracks of each, and how busy links are. Pages that move. Replays.
run bench allreduce --gpus 2 --bytes 4096 "${few[@]}" --timeline gpus.json --timeline-detail kernels
expect_status 0
expect_line gpus.json '"name":"GPU 1"'
[[ $(count gpus.json) =~ counts=[1-9] ]] || fail "$ran: no use of links: $(count gpus.json)"
run bench kmeans --n 2000 --rounds 1 --system r9nano-x2 --unified 2 "${few[@]}" --set paging.policy=ps \
    --timeline pages.json --timeline-detail kernels
expect_status 0
[[ $(count pages.json) =~ PAGE=[1-9] ]] || fail "$ran: no page has moved: $(count pages.json)"
run bench vecadd --n 20000 --set gpu.sm_count=4 --record trace
run replay trace --timeline replay.json --set gpu.sm_count=4
expect_status 0
[[ $(count replay.json) =~ BLOCK=[1-9] ]] || fail "$ran: no block: $(count replay.json)"

# A program: its calls have their names; arrows go from launches to kernels. A fault is marked.
gcc -o useptx "$HEDDLE_HOME/tests/programs/ptx.c" -L"$(dirname "$HEDDLE")/cuda" -l:libcuda.so.1 || fail 'ptx.c does not compile'
run run "${few[@]:0:4}" --timeline run.json ./useptx "$HEDDLE_HOME/bench/cuda/saxpy.ptx"
expect_status 0
expect_line run.json '"name":"cuLaunchKernel"'
expect_line run.json '"ph":"f","name":"launch"'
run run "${few[@]:0:4}" --timeline fault.json ./useptx "$HEDDLE_HOME/bench/cuda/saxpy.ptx" fault
[[ $(count fault.json) =~ faults=1 ]] || fail "$ran: no fault is marked: $(count fault.json)"
run run --timeline none.json true
expect_status 0
expect_line err '^heddle: no timeline was drawn: no GPU was used in simulated time'

# Where the machine is in another process: programs draw their calls, and the machine the rest. The same with `heddle
# serve`. Kernels are the same on a stream's track in one file, and on a GPU's in the other.
gcc -o launch "$HEDDLE_HOME/tests/programs/launch.c" -L"$(dirname "$HEDDLE")/cuda" -l:libcuda.so.1 || fail 'launch.c does not compile'
program=(./launch "$HEDDLE_HOME/tests/programs/causes.ptx" units 8 64 64)
run run --shared "${few[@]:0:4}" --stats plain "${program[@]}"
for threads in 1 2; do
    run run --shared "${few[@]:0:4}" --threads $threads --stats stats --timeline shared$threads.json "${program[@]}"
    expect_status 0
    expect_same_file 'statistics of a shared machine that draws' <(figures plain) <(figures stats)
done
expect_line err '^heddle: timeline shared2\.machine\.json: [0-9]+ slices'
expect_same_file 'timelines of a shared machine, 1 and 2 threads' shared1.machine.json shared2.machine.json
start serve --programs 1 --set gpu.sm_count=4 --timeline served.json --timeline-detail kernels machine
for ((tries = 0; tries < 200; tries++)); do [[ -e machine.ini ]] && break || sleep 0.05; done
"$HEDDLE" run --attach machine "${program[@]}" >attached.out 2>&1 || fail "--attach: $(cat attached.out)"
wait "$child"
status=$?
child=''
expect_status 0
python3 - <<'END' || fail 'timelines of machines in other processes'
import json
def slices(name, cat):
    return [(e["name"], e["ts"], e["dur"]) for e in json.load(open(name))["traceEvents"] if e.get("cat") == cat]
kernels = slices("shared1.json", "kernel")
assert kernels and kernels == slices("shared1.machine.json", "KERNEL") == slices("served.json", "KERNEL"), kernels
assert slices("shared1.json", "call") and not slices("shared1.json", "BLOCK")
assert len(slices("shared1.machine.json", "BLOCK")) == 8 and not slices("served.json", "BLOCK")
END

# Simulated CPU cores: which thread has which, beside the GPU; spans do not overlap, and end when the run does.
if has qemu-x86_64 'simulated CPU cores'; then
    run run --cpu epyc --system h200 "${few[@]:0:4}" --stats plain "${program[@]}"
    expect_status 0
    run run --cpu epyc --system h200 "${few[@]:0:4}" --stats stats --timeline cores.json "${program[@]}"
    expect_status 0
    expect_same_file 'statistics of cores that are drawn' <(figures plain) <(figures stats)
    cat >threads.c <<'END'
#include <pthread.h>
static void *work(void *sum)
{
    for (int i = 0; i < 20000; i++)
        *(volatile long *)sum += i;
    return sum;
}
int main(void)
{
    static long sums[3][16];
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, work, sums[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
END
    gcc -O1 -pthread -o threads threads.c || fail 'threads.c does not compile'
    run run --cpu epyc --timeline alone.json ./threads
    expect_status 0
    expect_line err '^heddle: timeline alone\.json: [0-9]+ slices'
    python3 - <<'END' || fail 'cores on tracks'
import json
for name in ("cores", "alone"):
    events = json.load(open(name + ".json"))["traceEvents"]
    names = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    cores = {}
    for e in events:
        if e.get("cat") == "CPU":
            assert names[e["tid"]].startswith("core ") and e["name"].startswith("thread "), e
            cores.setdefault(e["tid"], []).append((e["ts"], e["ts"] + e["dur"], e["name"]))
    assert cores
    for spans in cores.values():
        assert all(a[1] <= b[0] + 1e-6 for a, b in zip(spans, spans[1:])), spans
    if name == "cores": # the thread has its core until it waits for the kernel, and again after that
        (kernel,) = [e for e in events if e.get("cat") == "KERNEL"]
        (spans,) = cores.values()
        assert not any(begin < kernel["ts"] + kernel["dur"] / 2 < end for begin, end, _ in spans), (spans, kernel)
        assert spans[-1][1] > kernel["ts"] + kernel["dur"]
    else:
        assert len({span[2] for spans in cores.values() for span in spans}) > 2 and len(cores) > 1, cores
END
fi

# Bad input.
refuses '--timeline-detail: expected calls, kernels, blocks or all, not .some' "${job[@]}" --timeline f --timeline-detail some
refuses '--timeline-window: expected FROM\.\.TO' "${job[@]}" --timeline f --timeline-window 10us
refuses '--timeline-window: expected a time with its unit' "${job[@]}" --timeline f --timeline-window 10..20us
refuses '--timeline-window: .* ends before it begins' "${job[@]}" --timeline f --timeline-window 20us..10us
refuses '--timeline-detail needs --timeline FILE' "${job[@]}" --timeline-detail all
refuses '--timeline: .*missing/f' "${job[@]}" --timeline missing/f
refuses '--timeline needs --mode timing' bench vecadd --mode functional --timeline f
refuses 'expected --timeline-detail calls' run --attach machine --timeline f true

# A file that cannot be written whole: the run says why, and fails.
run "${job[@]}" --timeline /dev/full
expect_status 1
expect_line err '^heddle: no timeline was written: cannot write /dev/full: '
expect_line err '^heddle: --timeline: 1 file was not written$'

# The benchmark of the writer.
run bench timeline --slices 1000 --timeline bench.json
expect_status 0
expect_line out '^1000 slices in .* million slices/s, [0-9.]+ bytes each'
expect_same 'slices of the benchmark' "$(count bench.json)" 'BLOCK=1000 counts=0 faults=0'
