#!/usr/bin/env bash
# heddle trace record: programs whose accesses are known, and all the ways in which programs end.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
needs qemu-x86_64

cat >threads.c <<'END_C'
/* threads COUNT KIND N [END]: threads that each do N times what KIND says, and the way it ends. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef uint64_t vector __attribute__((vector_size(16)));
enum { CELLS = 4096, THREADS_MOST = 64 };
static volatile uint64_t cells[THREADS_MOST][CELLS];
static volatile vector vectors[CELLS];
static uint64_t total;
static const char *kind;
static long times;

static void *work(void *user)
{
    volatile uint64_t *own = cells[(long)user % THREADS_MOST];
    const long count = times;
    if (!strcmp(kind, "write"))
        for (long i = 0; i < count; i++)
            own[i % CELLS] = 1;
    if (!strcmp(kind, "read"))
        for (long i = 0; i < count; i++)
            (void)own[i % CELLS];
    if (!strcmp(kind, "atomic"))
        for (long i = 0; i < count; i++)
            __atomic_fetch_xor(&total, 1, __ATOMIC_SEQ_CST);
    if (!strcmp(kind, "vector"))
        for (long i = 0; i < count; i++)
            vectors[i % CELLS] = vectors[(i + 1) % CELLS];
    if (!strcmp(kind, "wait"))
        pause();
    return NULL;
}

static int ended(const char *how)
{
    int status = 5;
    if (!strcmp(how, "segv"))
        *(volatile int *)16 = 1;
    else if (!strcmp(how, "kill"))
        kill(getpid(), SIGKILL);
    else if (!strcmp(how, "exec"))
        execl("/bin/echo", "echo", "another", NULL);
    else if (!strcmp(how, "noexec"))
        execl("/no/such/program", "program", NULL);
    else if (!strcmp(how, "fork") && !fork())
        work(0), _exit(7);
    else if (!strcmp(how, "fork"))
        wait(&status), status = WEXITSTATUS(status);
    return status;
}

int main(int count, char **words)
{
    pthread_t threads[THREADS_MOST];
    int left = atoi(words[1]);
    kind = words[2];
    times = atol(words[3]);
    if (count > 5) /* one after the other */
        for (; left; left--) {
            pthread_create(threads, NULL, work, NULL);
            pthread_join(*threads, NULL);
        }
    for (long i = 0; i < left; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    if (!strcmp(kind, "wait"))
        puts("ready"), fflush(stdout);
    for (int i = 0; i < left; i++)
        pthread_join(threads[i], NULL);
    return ended(count > 4 ? words[4] : "");
}
END_C
gcc -O2 -static -o threads threads.c -pthread || fail 'threads.c does not compile'

# of THREAD WHAT: a figure of the summary: accesses, reads, writes, instructions.
of() {
    sed -nE "s/^heddle: thread $1: ([0-9]+) accesses \(([0-9]+) reads, ([0-9]+) writes\), ([0-9]+) instructions.*/\1 accesses \2 reads \3 writes \4 instructions/p" err |
        grep -oE "[0-9]+ $2" | cut -d ' ' -f 1
}

# more KIND WHAT: by how much a figure of thread 1 grows when it does 100000 times more of a kind.
more() {
    run trace record --output more ./threads 2 "$1" 1000
    expect_status 5
    local before
    before=$(of 1 "$2")
    run trace record --output more ./threads 2 "$1" 101000
    echo $(($(of 1 "$2") - before))
}

# ---- counts ----

expect_same 'writes' 100000 "$(more write writes)"
expect_same 'reads of one that writes' 0 "$(more write reads)"
expect_same 'reads' 100000 "$(more read reads)"
expect_same 'reads of atomics' 100000 "$(more atomic reads)"
expect_same 'writes of atomics' 100000 "$(more atomic writes)"
expect_same 'reads of vectors' 100000 "$(more vector reads)" # though QEMU does them in two
expect_same 'writes of vectors' 100000 "$(more vector writes)"
grown=$(more write instructions)
((grown % 100000 == 0 && grown >= 300000 && grown <= 1000000)) || fail "instructions grew by $grown"

run trace record --output one ./threads 3 write 20000
expect_status 5
expect_lines err 5
expect_line err '^heddle: thread 3: [0-9]+ accesses .* bytes an access: one.3.htrace$'
expect_line err '^heddle: 4 of 4 threads, 0.[0-9] million accesses in [0-9.]+ s, '
expect_same 'files' 'one.0.htrace one.1.htrace one.2.htrace one.3.htrace' "$(echo one.*)"
accesses=$(of 2 accesses)
run trace info one.2.htrace
expect_status 0
expect_line out "accesses +$accesses: "
# addresses: thread 2 wrote its part of the array, each cell as often as it should, in order
cells=$((0x$(nm threads | awk '$3 == "cells" { print $1 }') + 8 * 4096))
"$HEDDLE" trace print one.2.htrace | awk -F, -v from="$cells" '
    function number(hex, i, n) { for (i = 3; i <= length(hex); i++) n = 16 * n + index("0123456789abcdef", substr(hex, i, 1)) - 1; return n }
    $2 == "write" && $3 == 8 { at = number($1) - from; if (at >= 0 && at < 32768) { bad += at != 8 * (count % 4096); count++ } }
    END { print count, bad + 0 }' >cells
expect_same 'writes to the array, and those out of order' '20000 0' "$(cat cells)"
for name in two three; do # addresses, too, are the same
    run trace record --output "$name" ./threads 0 write 0
done
expect_same_file 'what the same thread does in two runs' two.0.htrace three.0.htrace
run trace record --output one ./threads 1 write 10 # what was there is gone
expect_same 'files of another run' 'one.0.htrace one.1.htrace' "$(echo one.*)"

# ---- which part ----

run trace record --output part --accesses 30000 --skip-until-threads 3 --only-threads 1- ./threads 2 write 300000000 # so long that neither ends before the other begins
expect_status 0
expect_same 'accesses of thread 1' 30000 "$(of 1 accesses)"
expect_same 'accesses of thread 2' 30000 "$(of 2 accesses)"
expect_same 'files' 'part.1.htrace part.2.htrace' "$(echo part.*)"
expect_line err '; the program was ended then$'
run trace record --output part --accesses 30000 --run-on --only-threads 1 ./threads 2 write 100000
expect_status 5
expect_same 'accesses when it runs on' 30000 "$(of 1 accesses)"
run trace record --output part --accesses 20000 --skip-until-threads 3 ./threads 2 write 90000000 # thread 0 waits
expect_status 0
expect_same 'accesses of those that do not wait' '20000 20000' "$(of 1 accesses) $(of 2 accesses)"
run trace record --output all ./threads 0 write 0
all=$(of 0 instructions)
run trace record --output skip --skip 10000 ./threads 0 write 0
skipped=$((all - $(of 0 instructions)))
((skipped >= 10000 && skipped < 10100)) || fail "$skipped instructions were skipped"
run trace record --output many --only-threads 900-1200 ./threads 1200 write 100 '' in-turn
expect_status 5
expect_line err '^heddle: 301 of 1201 threads, '

# ---- ends ----

for how in segv:139 kill:137; do
    run trace record --output end ./threads 2 write 50000 "${how%:*}"
    expect_status "${how#*:}"
    expect_line err 'the program was ended by signal [0-9]+ .*, and they are of the time until then'
    (($(of 1 writes) >= 50000)) || fail "${how%:*}: writes are missing"
    run trace info end.0.htrace end.1.htrace end.2.htrace
    expect_status 0
done
run trace record --output end ./threads 2 write 50000 noexec
expect_status 5
run trace record --output end ./threads 2 write 50000 fork
expect_status 7
expect_line err '; 1 process that it made was not recorded$'
rm -f end.*
run trace record --output end ./threads 2 write 50000 exec
expect_status 1
expect_line out '^another$'
expect_line err '^heddle: trace record: ./threads became another program by exec'
expect_same 'files of what became another' 'end.*' "$(echo end.*)"

"$HEDDLE" trace record --output end ./threads 2 wait 1 >out 2>err </dev/null &
child=$!
for ((tries = 0; tries < 600; tries++)); do
    grep -qs ready out && break
    sleep 0.05
done
interrupt TERM
ran='heddle trace record, after SIGTERM'
expect_status 143
expect_line err 'ended by signal 15'
"$HEDDLE" trace info end.0.htrace >out || fail 'the trace of what was ended cannot be read'

# ---- mistakes ----

# cannot STATUS REGEX WORD...: heddle trace record says this in one line, with this status.
cannot() {
    local wanted=$1 regex=$2
    shift 2
    run trace record "$@"
    expect_status "$wanted"
    expect_lines err 1
    expect_line err "^heddle: trace record: .*$regex"
}

rm -f end.*
refuses 'expected a program' trace record
refuses 'expected a program' trace record --skip 5
refuses "unknown option --acesses; did you mean --accesses" trace record --acesses 5 ./threads
refuses '--accesses: expected a number from 1' trace record --accesses 0 ./threads
refuses '--skip: ' trace record --skip many ./threads
for list in x 3-1 1,,2 -1 1-2-3 ''; do
    refuses '--only-threads: expected numbers and ranges' trace record --only-threads "$list" ./threads
done
refuses '--output: cannot write none/x.0.htrace: No such file' trace record --output none/x ./threads
refuses '--output: expected how names of traces shall begin' trace record --output ./ ./threads
cannot 127 'cannot find the program ./nothing' ./nothing
echo 'echo hello' >script
chmod +x script
cannot 126 'no program that QEMU runs' ./script
echo '#!/bin/sh' >script
cannot 126 'is a script, expected a program' ./script
cannot 1 'ended before it had 4 threads; there were 3 in all' --output end --skip-until-threads 4 ./threads 2 write 5
cannot 1 'ended before it had run the 4000000000 instructions' --output end --skip 4000000000 ./threads 2 write 5
cannot 1 'had no accesses to record: it had threads 0 to 2' --output end --only-threads 8- ./threads 2 write 5
env PATH=. "$HEDDLE" trace record ./threads >out 2>err
status=$? ran='heddle trace record without QEMU'
expect_status 127
expect_line err '^heddle: trace record: qemu-x86_64 is missing.*sudo apt-get install qemu-user$'
expect_same 'files of what failed' 'end.*' "$(echo end.*)"
expect_same 'folders left behind' '' "$(find . -name '*unfinished*')"
