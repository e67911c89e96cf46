#!/usr/bin/env bash
# A guest with the GPU as a PCI device: programs inside compute and take the same cycles as outside; checkpoints, regions,
# folders; guests that crash or never end; what is missing.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
needs gcc
machine=(--set gpu.sm_count=8) libraries=$(dirname "$HEDDLE")/cuda programs=$HEDDLE_HOME/tests/programs

# What needs no guest.
ran='heddle boot true, without QEMU'
env PATH=/nowhere "$HEDDLE" boot true >out 2>err </dev/null
status=$?
expect_complaint 'boot: what a guest is made of is missing; install it: apt-get install .* qemu-system-x86'
refuses '^heddle: --memory: expected a power of two' boot --memory 3GiB true
refuses '^heddle: --timeout: expected seconds' boot --timeout never true
refuses '^heddle: --cpus: expected 1 to 64' boot --cpus 0 true
refuses '^heddle: --share: nothing is no folder' boot --share nothing true
refuses '^heddle: --checkpoint-stop needs --checkpoint' boot --checkpoint-stop true
refuses '^heddle: --checkpoint does not go with --resume' boot --checkpoint a --resume a true

needs qemu-system-x86_64
needs busybox
compgen -G '/boot/vmlinuz-*' >/dev/null || { skip 'guests: no kernel in /boot here' && exit 0; }
file -L "$(command -v busybox)" 2>/dev/null | grep -q dynamically && { skip 'guests: busybox is not static here' && exit 0; }
gcc -o launch "$programs/launch.c" -L"$libraries" -l:libcuda.so.1 || fail 'launch.c does not compile'

# in_guest WORD...: heddle boot with the checkpoint, 200 s at most: other tests may run beside it.
in_guest() {
    ran="heddle boot --resume booted $*"
    timeout 250 "$HEDDLE" boot --resume booted --timeout 200 "${machine[@]}" "$@" >out 2>err </dev/null
    status=$?
}

# told FILE: what its JSON has of launches, without what the host's speed has a say in.
told() {
    python3 - "$1" <<'END_PYTHON'
import json, sys
def simulated(x):
    if isinstance(x, dict):
        return {k: simulated(v) for k, v in x.items() if "wall" not in k and "host" not in k}
    return [simulated(v) for v in x] if isinstance(x, list) else x
print(json.dumps(simulated(json.load(open(sys.argv[1]))["launches"]), sort_keys=True, indent=1))
END_PYTHON
}

# A boot, the result of a command, a checkpoint.
ran='heddle boot --checkpoint booted'
timeout 250 "$HEDDLE" boot --timeout 240 "${machine[@]}" --mode functional --checkpoint booted \
    sh -c 'echo here; echo there >&2; exit 5' >out 2>err </dev/null
status=$?
expect_status 5
expect_same "$ran" here "$(cat out)"
expect_line err '^there$'
expect_line err '^heddle: guest: booted in [0-9.]+ s'
[[ -s booted ]] || { fail 'there is no checkpoint' && exit 1; }

# The same cycles as without a guest.
cp "$programs/causes.ptx" .
kernel=$(sed -nE 's/^\.visible \.entry ([a-z_0-9]+).*/\1/p' causes.ptx | head -n 1)
run run --mode timing "${machine[@]}" --stats outside.json ./launch causes.ptx "$kernel" 4 64 65536 3
expect_status 0
cp out wanted
in_guest --mode timing --share . --stats inside.json ./launch causes.ptx "$kernel" 4 64 65536 3
expect_status 0
expect_same_file 'output inside and outside' wanted out
told outside.json >outside.told && told inside.json >inside.told && [[ -s inside.told ]] || fail 'no JSON'
expect_same_file 'launches inside and outside' outside.told inside.told

# Bytes go to the GPU and come back.
gcc -o useptx "$programs/ptx.c" -L"$libraries" -l:libcuda.so.1 || fail 'ptx.c does not compile'
cp "$HEDDLE_HOME/bench/cuda/saxpy.ptx" .
run run ./useptx saxpy.ptx
expect_status 0
cp out wanted
in_guest --mode functional --share . ./useptx saxpy.ptx
expect_status 0
expect_same_file 'results inside and outside' wanted out

# The region of interest has its own counts; a program in a shell, functional.
cat >three.sh <<END_SH
launch causes.ptx $kernel 1 32 4096 2
heddle-roi begin
launch causes.ptx $kernel 1 32 4096 3
heddle-roi end
END_SH
in_guest --mode functional --share . --stats region.json --program ./launch sh three.sh
expect_status 0
expect_lines out 2
expect_line err 'region of interest, entered 1 times: [0-9.]+ million instructions, 3 kernels '
python3 - region.json <<'END_PYTHON' || fail "region.json is not as expected: $(head -c 300 region.json)"
import json, sys
guest = json.load(open(sys.argv[1]))["guest"]
region = guest["region"]
assert guest["kernels"] == 5 and region["kernels"] == 3 and region["entered"] == 1
assert 0 < region["instructions"] < guest["instructions"]
END_PYTHON

# Programs one after another, at the same time, and one that is killed.
in_guest --mode functional --share . --program ./launch sh -c "
    launch causes.ptx $kernel 4 64 65536 100000 & p=\$!; sleep 0.5; kill -9 \$p; wait \$p
    launch causes.ptx $kernel 1 32 4096 1 & launch causes.ptx $kernel 1 32 4096 1 & wait
    echo more >new; launch causes.ptx $kernel 1 32 4096 1"
expect_status 0
expect_lines out 3
expect_same 'a file of the guest' more "$(cat new)"

# A program that nvcc built.
if has nvcc 'a program of nvcc'; then
    nvcc -o memory "$programs/memory.cu" >build.out 2>&1 || fail "memory.cu does not compile: $(head -n 5 build.out)"
    in_guest --mode functional ./memory
    expect_status 0
    expect_same "$ran" 'memory: ok' "$(tail -n 1 out)"
fi

# How guests end that do not end well.
timeout 100 "$HEDDLE" boot --resume booted --timeout 4 --mode functional "${machine[@]}" sleep 1000 >out 2>err </dev/null
status=$?
expect_status 124
expect_line err '^heddle: boot: the guest did not end within 4 s'
in_guest --mode functional sh -c 'echo c >/proc/sysrq-trigger; sleep 100'
expect_status 1
expect_line err 'Kernel panic'
expect_line err '^heddle: boot: the guest ended without a result: its kernel panicked'
in_guest --mode functional ./nosuch
expect_status 127
expect_line err '^heddle: boot: cannot run ./nosuch: No such file'

# Checkpoints of something else.
refuses 'booted was made with .memory = 1073741824., and this is .memory = 268435456.' boot --resume booted --memory 256MiB true
refuses 'causes.ptx is no checkpoint' boot --resume causes.ptx true
refuses 'cannot read nothing' boot --resume nothing true
[[ -z $(find . -name 'heddle-run-*') ]] || fail "folders are left behind: $(ls)"
