#!/usr/bin/env bash
# A machine in another process: programs that run on it get the same statistics as with their own, alone or several at
# once; whoever goes, or is ended, harms nobody; what makes no sense is told in one line.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

server='' machine=(--set gpu.sm_count=8)

# serve WORD...: a machine at the path m, in the background; returns once programs can attach.
serve() {
    "$HEDDLE" serve m "${machine[@]}" "$@" >serve.out 2>serve.err </dev/null &
    server=$!
    local tries
    for ((tries = 0; tries < 600; tries++)); do
        [[ -S m && -s m.ini ]] && return
        sleep 0.02
    done
    fail "heddle serve $*: no machine after 12 s"
}

# served STATUS: waits for the end of the machine, which leaves nothing behind.
served() {
    local ended tries
    for ((tries = 0; tries < 1500; tries++)); do
        kill -0 "$server" 2>/dev/null || break
        sleep 0.02
    done
    ((tries < 1500)) || kill -KILL "$server"
    wait "$server"
    ended=$?
    expect_same "status of heddle serve; it says $(cat serve.err)" "$1" "$ended"
    [[ ! -e m && ! -e m.ini ]] || fail 'heddle serve leaves its files behind'
}

# behind SECONDS FILE WORD...: runs a workload in the background, after a while; JSON goes to the file.
behind() {
    local seconds=$1 file=$2
    shift 2
    { sleep "$seconds" && "$HEDDLE" bench "$@" --attach m --json "$file"; } >"$file.out" 2>"$file.err" </dev/null &
}

# told FILE: FILE.told has the launches of its JSON, without what the host's speed has a say in.
told() {
    python3 - "$1" >"$1.told" <<'END'
import json, sys
def simulated(x):
    if isinstance(x, dict):
        return {k: simulated(v) for k, v in x.items() if "wall" not in k and "host" not in k}
    return [simulated(v) for v in x] if isinstance(x, list) else x
whole = json.load(open(sys.argv[1]))
print(json.dumps(simulated(whole["launches"]), sort_keys=True, indent=1))
END
}

# expect_same_launches WHAT A B: two files of JSON.
expect_same_launches() {
    told "$2" && told "$3" && [[ -s $2.told ]] || fail "$1: no JSON"
    expect_same_file "$1" "$2.told" "$3.told"
}

# ---- one program: the same as with its own machine ----
for name in vecadd bfs histogram; do
    run bench "$name" --mode timing "${machine[@]}" --json own.json
    expect_status 0
    cp out own.out
    serve --programs 1 --threads 2
    run bench "$name" --attach m --json attached.json
    expect_status 0
    served 0
    expect_same_launches "statistics of $name" own.json attached.json
    expect_line serve.out '^serve programs=1 kernels=[1-9]'
done

# ---- two at once, on one GPU: the same in every run, whoever starts first ----
for delay in 0 0.3; do
    serve --programs 2
    behind "$delay" "one$delay.json" matmul_tiled --seat 1
    first=$!
    behind 0.1 "two$delay.json" stencil2d --seat 2
    wait "$first" || fail "matmul_tiled beside another: $(cat "one$delay.json.err")"
    wait $! || fail "stencil2d beside another: $(cat "two$delay.json.err")"
    served 0
done
expect_same_launches 'first of two programs, twice' one0.json one0.3.json
expect_same_launches 'second of two programs, twice' two0.json two0.3.json
run bench stencil2d --mode timing "${machine[@]}" --json alone.json
told alone.json
! cmp -s alone.json.told two0.json.told || fail 'two programs on one GPU do not slow each other'

# ---- two whose kernels overlap take the same SMs: an SM with room for one block gives it to one after the other ----

small=(--set gpu.sm_count=1 --set gpu.blocks_per_sm=1)
work=(loop --kind 0 --rounds 100 --blocks 1)
serve "${small[@]}" --programs 1
behind 0 alone.json "${work[@]}" --seat 1
wait "$!"
served 0
for turn in first again; do
    serve "${small[@]}" --programs 2
    behind 0 one.$turn.json "${work[@]}" --seat 1
    one=$!
    behind 0.1 two.$turn.json "${work[@]}" --seat 2
    wait "$!" "$one"
    served 0
done
expect_same_launches 'the first of two kernels on one SM, again' one.first.json one.again.json
expect_same_launches 'the second of two kernels on one SM, again' two.first.json two.again.json
python3 - <<'END' || fail 'kernels of two programs did not take turns on an SM'
import json
launches = [json.load(open(name + ".json"))["launches"][0] for name in ("alone", "one.first", "two.first")]
alone, one, two = [(x["start_ps"], x["end_ps"]) for x in launches]
held = launches[0]["metrics"]["sm__cycles_active.max"] * 1e12 / 1.98e9
assert one == alone and two[0] == one[0]  # the first one is not held up,
assert two[1] - one[1] > 0.9 * held       # and the second one's block comes behind that of the first
END

# ---- a program that heddle run starts ----
gcc -o launch "$HEDDLE_HOME/tests/programs/launch.c" -L"$(dirname "$HEDDLE")/cuda" -l:libcuda.so.1 || fail 'launch.c does not compile'
launch=(./launch "$HEDDLE_HOME/tests/programs/causes.ptx" units 64 256 64)
run run --mode timing "${machine[@]}" --stats own.json "${launch[@]}"
expect_status 0
serve --programs 1
run run --attach m --stats attached.json "${launch[@]}"
expect_status 0
served 0
expect_same_launches 'statistics of a program' own.json attached.json

# ---- who goes ----
cat >forever.ptx <<'END'
.version 7.0
.target sm_70
.address_size 64
.visible .entry forever(.param .u64 memory)
{
    .reg .u64 %at;
    .reg .u32 %value;
    .reg .pred %zero;
    ld.param.u64 %at, [memory];
again:
    ld.volatile.global.u32 %value, [%at];
    setp.eq.u32 %zero, %value, 0;
    @%zero bra again;
    ret;
}
END
endless=(run --attach m ./launch forever.ptx forever 1 32 64)

# begin_endless: a program whose kernel does not end, as $child; returns when the machine has worked for it for a while.
begin_endless() {
    start "${endless[@]}"
    local tries ticks
    for ((tries = 0; tries < 600; tries++)); do
        read -r -a ticks <"/proc/$server/stat"
        ((ticks[13] + ticks[14] > 30)) && return
        sleep 0.05
    done
    fail 'the endless kernel does not begin'
}

serve
begin_endless # which is killed
kill -KILL "$child"
wait "$child"
run bench vecadd --attach m
expect_status 0
kill -INT "$server"
served 0
expect_line serve.err 'program 1 has gone'

serve
begin_endless # whose machine ends
kill -TERM "$server"
served 0
wait "$child"
status=$?
expect_status 1
expect_line err '^heddle: .*the machine .*(was stopped|has gone)'

serve
begin_endless # which is interrupted, and tells what it knows
interrupt TERM
expect_status 143
expect_line err '^forever: [1-9][0-9,]* cycles .*interrupted before its end'
kill -INT "$server"
served 0

# a machine that is stopped before its time began: no result is taken for one
serve --programs 2
start run --attach m "${launch[@]}"
sleep 0.5
kill -TERM "$server"
served 143
wait "$child"
status=$?
child=''
expect_status 1
expect_line err '^heddle: the machine .* has gone'

# a program that makes no call, while another waits
serve --programs 2 --patience 0.5s
start "${endless[@]}"
for ((tries = 0; tries < 600; tries++)); do
    grep -q 'is attached' serve.err && break
    sleep 0.02
done
mapfile -t of_child < <(pgrep -P "$child")
kill -STOP "${of_child[@]}" # it does not wait for the machine any more
silent=$child
run run --attach m "${launch[@]}"
expect_status 0
kill -KILL "${of_child[@]}"
wait "$silent"
child=''
served 0

# ---- what makes no sense ----
refuses 'no machine at nowhere' bench vecadd --attach nowhere
refuses '--system does not go with --attach' bench vecadd --attach m --system a100
refuses '--set does not go with --attach' bench vecadd --attach m --set gpu.sm_count=2
refuses '--checkpoint does not go with --attach' bench vecadd --attach m --checkpoint c
refuses '--seat needs --attach' bench vecadd --mode timing --seat 1
refuses '--seat: expected 1 to 8' bench vecadd --attach m --seat 9
refuses 'needs --mode timing' bench vecadd --attach m --mode functional
refuses 'expected a path' serve
refuses '--programs: expected 1 to 8' serve m --programs 0
refuses 'no room in the host' serve m --programs 3 --set system.gpus=64
refuses 'cannot make none/m' serve none/m
serve --programs 1
refuses 'another machine is there already' serve m
refuses 'that seat is taken, or there is none' bench vecadd --attach m --seat 2
run bench vecadd --attach m
expect_status 0
served 0
echo mine >mine
refuses 'mine is there already' serve mine
echo mine >other.ini
refuses 'other.ini is there already' serve other
[[ $(cat mine other.ini) == $'mine\nmine' ]] || fail 'heddle serve takes files that are not its own'
[[ ! -e other ]] || fail 'heddle serve leaves a socket behind'
touch m.ini # a machine that was killed leaves its files
refuses 'cannot attach to m' bench vecadd --attach m
