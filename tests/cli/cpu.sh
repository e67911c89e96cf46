#!/usr/bin/env bash
# heddle run --cpu: programs on simulated cores, their threads and clocks, and what goes wrong.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
needs qemu-x86_64

cat >program.c <<'END_C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static char order[200];

static double now_us(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static void *work(void *user)
{
    long number = (long)user;
    for (int round = 0; round < 10; round++) {
        for (volatile long i = 0; i < 500 * (number + 1); i++)
            ;
        pthread_mutex_lock(&lock);
        order[strlen(order)] = (char)('0' + number);
        pthread_mutex_unlock(&lock);
    }
    pthread_barrier_wait(&barrier);
    return NULL;
}

int main(int count, char **words)
{
    const char *what = count > 1 ? words[1] : "";
    if (!strcmp(what, "threads")) {
        pthread_t threads[4];
        pthread_barrier_init(&barrier, NULL, 4);
        for (long i = 0; i < 4; i++)
            pthread_create(&threads[i], NULL, work, (void *)i);
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
        printf("%s\n", order);
    } else if (!strcmp(what, "sleep")) {
        double begin = now_us();
        usleep(5000);
        printf("%.0f\n", (now_us() - begin) / 100);
    } else if (!strcmp(what, "count")) { /* 100,000 rounds of at least a cycle each */
        double begin = now_us();
        for (long i = 0; i < 100000; i++)
            __asm__ volatile("" : : "r"(i));
        double taken = now_us() - begin;
        printf("%s\n", taken > 20 && taken < 200 ? "as it should be" : "not so");
    } else if (!strcmp(what, "date")) {
        struct timespec clock;
        time_t now = time(NULL);
        clock_gettime(CLOCK_REALTIME, &clock);
        printf("%ld %ld\n", (long)now, (long)clock.tv_sec);
    } else if (!strcmp(what, "abort")) {
        abort();
    }
    return 3;
}
END_C
gcc -O1 -pthread -o program program.c
gcc -O1 -static -pthread -o fixed program.c

# own_status STATUS WORD...: what the program says, its own exit status, and the summary.
own_status() {
    local expected=$1 status=0
    shift
    timeout -k 1 60 "$HEDDLE" run "$@" >output 2>errors || status=$?
    [[ $status == "$expected" ]] || fail "status $status, not $expected: $* $(cat errors)"
}

for program in ./program ./fixed; do
    own_status 3 --cpu epyc $program
    grep -q 'ms on 8 cores (epyc), 1 thread, ' errors || fail "no summary: $(cat errors)"
    own_status 3 --cpu epyc $program sleep
    [[ $(cat output) == 50 ]] || fail "a sleep of 5 ms takes $(cat output) x 0.1 ms"
    own_status 3 --cpu epyc $program date
    [[ $(cat output) == '1577836800 1577836800' ]] || fail "the date is not simulated time: $(cat output)"
    own_status 3 --cpu epyc $program count
    [[ $(cat output) == 'as it should be' ]] || fail "the clock is not simulated time"
done
for cpu in xeon sst simple; do
    own_status 3 --cpu $cpu ./program count
    grep -q "($cpu)" errors || fail "no summary of $cpu"
done
own_status 134 --cpu epyc ./program abort

# The same order of threads, times and counts in each run.
for cores in 8 2 1; do
    for run in 1 2 3; do
        own_status 3 --cpu epyc --set cpu.cores=$cores --set cpu.slice=20us --stats $run.json ./program threads
        [[ $(wc -c <output) == 41 ]] || fail "output: $(cat output)"
        python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["cpu"])' $run.json >$run.cpu
        cat output >>$run.cpu
        cmp 1.cpu $run.cpu || fail "two runs on $cores cores differ"
    done
done

# What is wrong is said in a line.
own_status 2 --cpu nobody ./program
grep -q 'no description nobody; there are' errors || fail "$(cat errors)"
own_status 2 --cpu epyc --set cpu.width=99 ./program
grep -q 'cpu.width' errors || fail "$(cat errors)"
own_status 2 --set cpu.width=4 ./program
grep -q 'expected --cpu' errors || fail "$(cat errors)"
echo 'exit 0' >script && chmod +x script
own_status 126 --cpu epyc ./script
grep -q 'no program that QEMU runs' errors || fail "$(cat errors)"
status=0
PATH=$PWD/empty "$HEDDLE" run --cpu epyc ./program 2>errors || status=$?
[[ $status != 0 ]] && grep -q 'apt-get install qemu-user' errors || fail "without QEMU: $(cat errors)"
