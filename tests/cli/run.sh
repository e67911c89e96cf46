#!/usr/bin/env bash
# heddle run, as far as it goes without nvcc: programs that use the driver API and a PTX file, and programs without CUDA.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
libraries=$(dirname "$HEDDLE")/cuda
saxpy=$HEDDLE_HOME/bench/cuda/saxpy.ptx

gcc -o useptx "$HEDDLE_HOME/tests/programs/ptx.c" -L"$libraries" -l:libcuda.so.1 || fail 'ptx.c does not compile'

# ---- a program that launches ----

run run ./useptx "$saxpy"
expect_status 0
expect_line out '^ptx: ok$'
expect_lines err 1
expect_line err '^heddle: 1 kernel, 1 launch, [0-9]+ PTX warp instructions \([0-9.]+ thousand of threads\) in [0-9.]+ s'

for threads in 1 2 all; do
    run run --threads "$threads" --stats "stats.$threads" ./useptx "$saxpy"
    expect_status 0
    python3 - "stats.$threads" <<'END' >"same.$threads" || fail 'the statistics cannot be read'
import json, sys
stats = json.load(open(sys.argv[1]))
assert set(stats["host"]) == {"wall_s", "cpu_s", "threads"}
del stats["host"]
launch, = stats["launches"]
assert launch["kernel"] == "saxpy" and launch["grid"] == [8, 1, 1] and launch["block"] == [128, 1, 1]
assert launch["metrics"]["launch__grid_size"] == 8 and launch["metrics"]["smsp__warps_launched.sum"] == 32
assert launch["metrics"]["smsp__inst_executed.sum"] > 32
print(json.dumps(stats))
END
    expect_same_file "statistics with $threads threads and with one" same.1 "same.$threads"
done

run run ./useptx "$saxpy" stay # what was launched is counted, though nobody waits for it
expect_line err '1 launch, '
run run sh -c "./useptx '$saxpy' && ./useptx '$saxpy'"
expect_status 0
expect_line err '1 kernel, 2 launches'
run run ./useptx "$saxpy" fault
expect_status 0
expect_line err '^heddle: .*saxpy.* a read of 4 bytes at 0x[0-9a-f]+'
expect_line err '^heddle: 1 kernel, 1 launch, failed, '
run run --set gpu.registers_per_sm=512 --set gpu.registers_per_block=512 ./useptx "$saxpy"
expect_line err '^heddle: kernel saxpy was not launched: saxpy has [0-9]+ registers a thread, which leaves room for blocks of 0 threads, not 128'
run run --set gpu.registers_per_block=2 ./useptx "$saxpy"
expect_line err '^heddle: kernel saxpy was not launched: saxpy takes [0-9]+ registers for a block .* and a block can have 2 \(gpu.registers_per_block\)$'
kernel() { # kernel DIRECTIVES INSTRUCTION: a module with a kernel of this name that has them
    printf '.version 8.0\n.target sm_90\n.address_size 64\n.visible .entry saxpy(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y) %s\n{\n%s\nret;\n}\n' \
        "$1" "$2"
}
kernel '.explicitcluster .reqnctapercluster 16, 1, 1' '' >cluster.ptx
run run ./useptx cluster.ptx
expect_line err '^heddle: kernel saxpy was not launched: saxpy: a (cluster of 16 blocks is more than the 8 that it can have|grid of .* is not a multiple of its clusters)'
kernel '' 'tcgen05.fence::before_thread_sync;' >unknown.ptx
run run ./useptx unknown.ptx # the second line does not repeat the first
expect_line err '^heddle: kernel saxpy: unknown.ptx, PTX line 6: tcgen05.fence::before_thread_sync: '
expect_line err '^heddle: kernel saxpy was not launched$'
run run ./useptx "$saxpy" much
expect_status 0
expect_lines err 2
expect_line err '^heddle: NVIDIA H200 is out of memory: 1125899906842624 bytes are asked for, and of [0-9]+ bytes [0-9]+ are in use$'
run run sh -c "ulimit -v 2000000 && exec ./useptx '$saxpy' limited"
expect_status 0
expect_lines err 2
expect_line err '^heddle: no range of 4294967296 free addresses is left: this process may have 2000000 KiB of addresses \(ulimit -v\)$'
run run ./useptx "$saxpy" unsupported
expect_status 0
expect_lines err 2
expect_line err '^heddle: cuImportExternalSemaphore is not supported'

# libraries with a runtime of NVIDIA's: one line each, when they are used
cat >asks.c <<'END'
int cuGetExportTable(const void **table, const void *id);
int ask(void)
{
    const void *table;
    int result = cuGetExportTable(&table, "0123456789abcdef");
    return result;
}
END
cat >loads.c <<'END'
#include <dlfcn.h>
int main(int count, char **words)
{
    void *library = count > 1 ? dlopen(words[1], RTLD_NOW) : 0;
    int (*ask)(void) = library ? (int (*)(void))dlsym(library, "ask") : 0;
    return ask && ask() == 500 && ask() == 500 ? 0 : 1;
}
END
gcc -o loads loads.c -ldl
mkdir theirs
for library in libcudart.so.13 libcublas.so.13 libcudnn_graph.so.9 libnccl.so.2 libtheirs.so; do
    gcc -shared -fPIC -o "theirs/$library" asks.c -L"$libraries" -l:libcuda.so.1
    run run ./loads "./theirs/$library"
    expect_status 0
    expect_lines err 2
    mv err "err.$library"
done
expect_line err.libcudart.so.13 "^heddle: ./theirs/libcudart.so.13 is NVIDIA's own CUDA runtime, and its calls will fail: let the program load libcudart.so.13 by that name"
expect_line err.libcublas.so.13 '^heddle: ./theirs/libcublas.so.13 is cuBLAS, whose kernels are machine code without PTX, which Heddle does not simulate; its calls will fail: use '
expect_line err.libcudnn_graph.so.9 '^heddle: ./theirs/libcudnn_graph.so.9 is cuDNN, whose kernels are machine code without PTX'
expect_line err.libnccl.so.2 '^heddle: ./theirs/libnccl.so.2 is NCCL, whose kernels are machine code without PTX.* let the program load libnccl.so.2 by that name'
expect_line err.libtheirs.so '^heddle: ./theirs/libtheirs.so has a CUDA runtime of its own that cannot be replaced'

gcc -o handles "$HEDDLE_HOME/tests/programs/handles.c" -L"$libraries" -l:libcudart.so.13 -l:libcuda.so.1 || fail 'handles.c does not compile'
run run ./handles
expect_status 0
expect_line out '^handles: ok$'

gcc -o nvml "$HEDDLE_HOME/tests/programs/nvml.c" -L"$libraries" -l:libcudart.so.13 -ldl || fail 'nvml.c does not compile'
for gpus in 1 2; do
    run run --set system.gpus=$gpus ./nvml $gpus
    expect_status 0
    expect_line out '^nvml: ok$'
done

run run --mode functional --system a100 ./useptx "$saxpy" name
expect_line out 'A100'
cp "$HEDDLE_HOME/systems/a100.ini" own.ini
run run --system own.ini sh -c "cd / && '$PWD/useptx' '$saxpy' name"
expect_line out 'A100'

# ---- the program's words, status, input and output are its own ----

run run echo --threads 5 --help --
expect_status 0
expect_same 'words of the program' "$(cat out)" '--threads 5 --help --'
expect_line err '^heddle: no kernel was launched$'
run run -- echo -n --stats
expect_same 'words behind --' "$(cat out)" '--stats'
run run sh -c 'exit 7'
expect_status 7
expect_same 'standard input' "$(echo words | "$HEDDLE" run cat 2>/dev/null)" words
run run sh -c 'echo one; echo two >&2'
expect_same 'standard output' "$(cat out)" one
expect_line err '^two$'
run run sh -c 'kill -SEGV $$'
expect_status 139
expect_line err '^heddle: sh was ended by signal 11 \(Segmentation fault\)'
run run --help
expect_status 0
expect_line out '--stats FILE'

# ---- signals reach the program ----

for signal in TERM INT; do
    rm -f out
    "$HEDDLE" run ./useptx "$saxpy" wait >out 2>err &
    child=$!
    for ((tries = 0; tries < 600; tries++)); do
        grep -qs ready out && break
        sleep 0.05
    done
    kill -"$signal" "$child"
    wait "$child"
    status=$?
    child=''
    ran="heddle run ./useptx wait, after SIG$signal"
    expect_status 5
    expect_line out "^signal $(printf %02d "$(kill -l "$signal")")\$"
done
left=$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'heddle-run-*' -newer useptx -user "$(id -un)" 2>/dev/null | head -n 1)
expect_same 'folders left behind' '' "$left"

# ---- mistakes ----

# cannot STATUS REGEX WORD...: heddle run says this in one line, with this status.
cannot() {
    local wanted=$1 regex=$2
    shift 2
    run run "$@"
    expect_status "$wanted"
    expect_empty out
    expect_lines err 1
    expect_line err "^heddle: .*$regex"
}

cannot 2 'expected a program'
cannot 2 'expected a program' --threads 2
cannot 2 'unknown option --thread; did you mean --threads' --thread 2 ./useptx
cannot 2 "'many'" --threads many ./useptx
cannot 2 "expected functional or timing, not 'fast'" --mode fast ./useptx
cannot 2 "no system 'h2000'.*h200" --system h2000 ./useptx
cannot 2 'cannot write none/x: No such file' --stats none/x ./useptx
cannot 2 'would write over the program' --stats ./useptx ./useptx
cannot 127 'cannot find the program ./nothing: No such file' ./nothing
cannot 127 'cannot find the program no-such-command' no-such-command
cannot 127 'say ./useptx' useptx
cannot 126 'a folder' ./
: >plain
cannot 126 'not executable \(chmod' ./plain
chmod +x plain
printf '\177ELF' >plain
cannot 126 'cannot run ./plain' ./plain
echo 'int main(void) { return 0; }' >still.c
gcc -static -o still still.c && cannot 126 'linked statically' ./still
echo 'int f(void) { return 0; }' >f.c
echo 'int f(void); int main(void) { return f(); }' >needs.c
gcc -shared -fPIC -o libf.so f.c && gcc -o needs needs.c -L. -lf && rm libf.so
cannot 127 'needs libf.so, which is not found; LD_LIBRARY_PATH' ./needs
HEDDLE_THREADS=none run run ./useptx "$saxpy" name
expect_line err 'HEDDLE_THREADS'

# options
refuses '--bounds: expected exact or padded' run --bounds sloppy true
refuses '--limit: ' run --limit many true
