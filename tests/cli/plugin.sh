#!/usr/bin/env bash
# Plugins: the examples are built against an installation and used by its commands; others are refused.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
needs cmake
needs pkg-config
needs make
sources=$HEDDLE_HOME
unset HEDDLE_HOME

cmake --install "$(dirname "$HEDDLE")" --prefix "$folder/heddle" >log 2>&1 || fail "cmake --install: $(tail -n 5 log)"
HEDDLE=$folder/heddle/bin/heddle
PKG_CONFIG_PATH=$(dirname "$(find heddle -name heddle.pc)")
export PKG_CONFIG_PATH=$folder/$PKG_CONFIG_PATH
cp -r "$(find heddle -path '*/examples/plugins')" plugins
make -C plugins >log 2>&1 || fail "make: $(tail -n 5 log)"
few=(--mode timing --set gpu.sm_count=4 --no-progress)

# build NAME: a plugin of the C text on standard input.
read -ra flags < <(pkg-config --cflags heddle)
build() {
    cc -std=c11 -Wall -Werror -shared -fPIC -o "$1.so" -x c - "${flags[@]}" || fail "$1 does not compile"
}

# launches FILE: what a run decides, and not the host.
launches() {
    python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["launches"])' "$1"
}

# ---- a replacement policy: one that does what lru does gives what lru gives ----

build own_lru <<'END'
#include <heddle_plugin.h>
static void renew(uint8_t *place, uint32_t ways, uint32_t way)
{
    for (uint32_t i = 0; i < ways; i++)
        place[i] -= place[i] > place[way];
    place[way] = (uint8_t)(ways - 1);
}
static uint32_t oldest(uint8_t *place, uint32_t ways, uint64_t among, uint64_t seed)
{
    uint32_t best = ways;
    (void)seed;
    for (uint32_t i = 0; i < ways; i++)
        if ((among >> i & 1) && (best == ways || place[i] < place[best]))
            best = i;
    return best;
}
static const struct heddle_replacement rows[] = {{"own_lru", "lru once more", renew, renew, oldest}, {0}};
HEDDLE_PLUGIN = {HEDDLE_PLUGIN_VERSION, "own", rows, NULL, NULL};
END
small=(--set sm.l1_apart=yes --set sm.l1=4KiB --set sm.l1_ways=8 --set gpu.shared_carveouts=228
    --set gpu.shared_per_sm=228KiB --set l2.bytes=1536KiB)
spmv=(bench spmv --rows 1000 "${few[@]}" "${small[@]}")
run "${spmv[@]}" --set sm.l1_policy=lru --set l2.policy=lru --json lru.json
expect_status 0
run "${spmv[@]}" --plugin ./own_lru.so --set sm.l1_policy=own_lru --set l2.policy=own_lru --json own.json
expect_status 0
expect_same 'lru and the same by a plugin' "$(launches lru.json)" "$(launches own.json)"

# shellcheck disable=SC2054
generated=(caches --generate zipf:footprint=1MiB --accesses 50k --tiles 4 --l1 16KiB,8,64 --l2 64KiB,8,64
    --machine private --json)
run "${generated[@]}" counts_lru.json --policy lru
expect_status 0
run "${generated[@]}" counts_own.json --policy own_lru --plugin own_lru.so --threads 2
expect_status 0
run "${generated[@]}" counts_lfu.json --policy lfu --plugin plugins/lfu.so
expect_status 0
python3 - <<'END' || fail 'counts of heddle caches are not as expected'
import json
def counts(name):
    return json.load(open(name))["result"]
assert counts("counts_lru.json") == counts("counts_own.json"), (counts("counts_lru.json"), counts("counts_own.json"))
assert counts("counts_lru.json") != counts("counts_lfu.json")
END

# ---- the examples; the same with any number of threads, and in a program's process ----

run "${spmv[@]}" --plugin plugins/lfu.so --set sm.l1_policy=lfu --threads 1 --json one.json
expect_status 0
run "${spmv[@]}" --plugin plugins/lfu.so --set sm.l1_policy=lfu --threads 2 --json two.json
expect_status 0
[[ $(launches one.json) != "$(launches lru.json)" ]] || fail "lfu does what lru does"
expect_same 'lfu on one and on two threads' "$(launches one.json)" "$(launches two.json)"

fir=(bench fir --n 20000 --system r9nano-x4 --unified 4 "${few[@]}")
run "${fir[@]}" --plugin plugins/two_readers.so --set paging.policy=two_readers --json two.json
expect_status 0
expect_line out ': ok; '
run "${fir[@]}" --set paging.policy=esi --json esi.json
[[ $(launches two.json) != "$(launches esi.json)" ]] || fail 'two_readers does what esi does'

gcc -o useptx "$sources/tests/programs/ptx.c" -L"$(dirname "$(find heddle -name libcuda.so.1)")" -l:libcuda.so.1 ||
    fail 'ptx.c does not compile'
plain=(run "${few[@]}" ./useptx "$sources/bench/cuda/saxpy.ptx")
run "${plain[@]}"
cp out plain
mkdir elsewhere
run run "${few[@]}" --plugin "plugins/latency.so,$folder/elsewhere/latency.csv" ./useptx "$sources/bench/cuda/saxpy.ptx"
expect_status 0
expect_same_file 'what a program prints without and with a listener' plain out
expect_line elsewhere/latency.csv '^from_ns,requests$'
expect_line elsewhere/latency.csv '^256,[1-9][0-9]*$'
(HEDDLE_PLUGINS="$folder/plugins/lfu.so" "$HEDDLE" run "${few[@]}" --set sm.l1_policy=lfu ./useptx \
    "$sources/bench/cuda/saxpy.ptx" >out 2>err) || fail "HEDDLE_PLUGINS: $(cat err)"

cat >policies.ini <<'END'
[study]
title = Two policies
[workload.spmv]
options = --rows 200
[axis.policy]
lru = sm.l1_policy=lru
lfu = sm.l1_policy=lfu
END
run study policies.ini --plugin plugins/lfu.so --set gpu.sm_count=4 --no-progress
expect_status 0

# ---- what is refused ----

refuse() { # REGEX FILE
    refuses "$1" bench vecadd --n 1000 --plugin "$2"
}
refuse 'plugin no/such.so: there is no such file$' no/such.so
echo 'no library' >text.so
refuse 'plugin text.so: ' text.so
build empty <<<'int nothing;'
refuse 'plugin empty.so: it is no plugin of Heddle: there is no heddle_plugin in it' empty.so
build later <<'END'
#include <heddle_plugin.h>
HEDDLE_PLUGIN = {HEDDLE_PLUGIN_VERSION + 1, "later", NULL, NULL, NULL};
END
refuse 'plugin later.so: it is a plugin of version 2, and this Heddle loads those of version 1' later.so
build hollow <<'END'
#include <heddle_plugin.h>
HEDDLE_PLUGIN = {HEDDLE_PLUGIN_VERSION, "hollow", NULL, NULL, NULL};
END
refuse 'plugin hollow.so: it has neither policies nor listeners' hollow.so
build nameless <<'END'
#include <heddle_plugin.h>
HEDDLE_PLUGIN = {HEDDLE_PLUGIN_VERSION, NULL, NULL, NULL, NULL};
END
refuse 'plugin nameless.so: it has no name' nameless.so
build twice <<'END'
#include <heddle_plugin.h>
static void no(uint8_t *s, uint32_t w, uint32_t i) { (void)s, (void)w, (void)i; }
static uint32_t choose(uint8_t *s, uint32_t w, uint64_t a, uint64_t d) { (void)s, (void)w, (void)a, (void)d; return 0; }
static const struct heddle_replacement rows[] = {{"srrip", "taken", no, no, choose}, {0}};
HEDDLE_PLUGIN = {HEDDLE_PLUGIN_VERSION, "twice", rows, NULL, NULL};
END
refuse 'plugin twice.so: there is a replacement policy srrip already' twice.so
build wrong <<'END'
#include <heddle_plugin.h>
static void no(uint8_t *s, uint32_t w, uint32_t i) { (void)s, (void)w, (void)i; }
static uint32_t choose(uint8_t *s, uint32_t w, uint64_t a, uint64_t d) { (void)s, (void)a, (void)d; return w; }
static const struct heddle_replacement rows[] = {{"wrong", "beyond the last", no, no, choose}, {0}};
HEDDLE_PLUGIN = {HEDDLE_PLUGIN_VERSION, "wrong", rows, NULL, NULL};
END
refuses 'plugin: wrong chose way 8 of 8, whose line may not leave' "${spmv[@]}" --plugin wrong.so \
    --set sm.l1_policy=wrong
refuses "expected one of lru.fifo.random.tree.srrip.lfu, not 'lfo'" bench vecadd --plugin plugins/lfu.so \
    --set sm.l1_policy=lfo
refuses 'not .lfu' bench vecadd --n 1000 --mode timing --set sm.l1_policy=lfu
refuses '--plugin needs --mode timing' bench vecadd --n 1000 --mode functional --plugin plugins/lfu.so
refuses 'plugin latency listens, but the machine of --shared is in another process' run --shared --plugin \
    plugins/latency.so ./useptx "$sources/bench/cuda/saxpy.ptx"
