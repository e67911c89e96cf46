#!/usr/bin/env bash
# Whatever a user gets wrong: one clear line, a status that is not 0, and no result.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# ---- the command line ----

refuses "unknown command 'benhc'; did you mean bench\?" benhc
refuses "unknown command 'zzzzzz'.*--help" zzzzzz
refuses "unknown command ''" ''
refuses "unknown command '-x'" -x
refuses "unknown command 'parms'; did you mean params\?" help parms
refuses "unknown section 'phol'; did you mean phold\?" params phol
refuses "'b'" params a b
refuses 'unknown option --all' params --all
refuses 'name of the shell' completion
refuses 'name of the shell' completion tcsh
refuses 'no further words' demo twice

refuses 'name of a benchmark' bench
refuses 'name of a benchmark before its options' bench --threads 2 phold
refuses "unknown benchmark 'fold'; did you mean phold\?" bench fold
refuses "unknown benchmark 'gpu_traffic'; did you mean gpu-traffic\?" bench gpu_traffic
refuses "unknown benchmark 'zzzzzz'" bench zzzzzz
refuses "unexpected word 'now'" bench phold now
refuses "unexpected word '--now'" bench phold -- --now
refuses 'unknown option --thread; did you mean --threads\?' bench phold --thread 2
refuses 'unknown option --island; did you mean --islands\?' bench phold --island=1000000000
refuses 'unknown option -x' bench phold -x
refuses 'unknown option --sms' bench phold --sms 4 # a key of another benchmark
refuses 'takes no value' bench phold --help=yes
for option in --threads --config --set --json --checkpoint --at --resume --log --islands; do
    refuses "behind $option\$" bench phold "$option"
done

for threads in 0 -1 1025 many '' 2.5 '2 3' 99999999999999999999; do
    refuses "--threads: expected a number from 1 to 1024, or all, not '$threads'" bench phold --threads "$threads"
done
refuses "'loud' is no log level" bench phold --log loud
HEDDLE_LOG=loud refuses "HEDDLE_LOG: 'loud' is no log level" version

refuses '--at needs --checkpoint FILE' bench phold --at 5ns
refuses "--at: expected a time with its unit, such as 50ns, not '5'" bench phold --checkpoint saved --at 5
refuses "--at: .*'-5ns'" bench phold --checkpoint saved --at -5ns

for form in islands=3 phold=3 phold.islands phold.islands= =3 .islands=3 phold.=3 ''; do
    refuses "--set: expected path.key=value .*, not '$form'" bench phold --set "$form"
done
refuses '--set: there is no section \[fold\]; did you mean \[phold\]\?' bench phold --set fold.islands=3
refuses "--set: \[phold\] has no key 'island'; did you mean islands\?" bench phold --set phold.island=3
refuses "--set: phold.islands: expected a whole number.*'three'" bench phold --set phold.islands=three
refuses '--set: phold.islands: expected 1\.\.500000, not 0' bench phold --set phold.islands=0
refuses '--islands: phold.islands: expected 1\.\.500000, not 0' bench phold --islands 0
refuses "--islands: phold.islands: expected a whole number.*'-1'" bench phold --islands -1
refuses "--lookahead: phold.lookahead: expected a time with its unit, such as 50ns, not '5'" bench phold --lookahead 5
refuses '--remote: phold.remote: expected 0\.\.1, not 1.5' bench phold --remote 1.5
refuses "--remote: phold.remote: expected a number.*'half'" bench phold --remote half
refuses "--remote: phold.remote: expected a number.*'nan'" bench phold --remote nan
refuses "--latency-cycles: gpu-traffic.latency_cycles: .*'x'" bench gpu-traffic --latency-cycles x

# ---- descriptions ----

refuses 'cannot read missing.ini: No such file or directory' bench phold --config missing.ini
refuses 'cannot read \.: Is a directory' bench phold --config .
refuses 'bench network: expected --config FILE' bench network

# describes TEXT: into the file d.ini.
describes() { printf '%b' "$1" >d.ini; }

# phold_refuses REGEX TEXT: a description that holds this is refused so.
phold_refuses() {
    describes "$2"
    refuses "$1" bench phold --time 10ns --islands 4 --config d.ini
}

phold_refuses "d.ini:1: expected '\]' at the end of '\[phold'" '[phold\n'
phold_refuses "d.ini:1: expected '\]' at the end of '\[phold\] x'" '[phold] x\n'
phold_refuses 'd.ini:1: expected a section name' '[]\n'
phold_refuses "d.ini:1: expected a section name.*'ph old'" '[ph old]\n'
phold_refuses "d.ini:2: expected \[section\] or key = value, not 'islands 3'" '[phold]\nislands 3\n'
phold_refuses 'd.ini:2: expected a key' '[phold]\n= 3\n'
phold_refuses "d.ini:2: expected a key.*'is lands'" '[phold]\nis lands = 3\n'
phold_refuses "d.ini:2: expected a value after '=' for 'islands'" '[phold]\nislands =\n'
phold_refuses "d.ini:2: expected a value after '=' for 'islands'" '[phold]\nislands = # none\n'
phold_refuses "d.ini:1: expected \[section\] before the key 'islands'" 'islands = 3\n'
phold_refuses "d.ini:3: this file sets the key twice: 'islands'" '[phold]\nislands = 3\nislands = 4\n'
phold_refuses "d.ini:4: this file has the section twice: 'phold'" '[phold]\nislands = 3\n\n[phold]\n'
phold_refuses 'd.ini:1: expected text, found a zero byte' '[phold]\0\n'
phold_refuses 'd.ini:1: expected \[section\] or key = value' '\0177ELF\n'
phold_refuses 'd.ini:2: this line is too long' "[phold]\n$(printf 'x%.0s' {1..5000}) = 3\n"

phold_refuses 'd.ini:[12]: there is no section \[fold\]; did you mean \[phold\]\?' '[fold]\nislands = 3\n'
phold_refuses 'd.ini:[12]: there is no section \[gpu-traffic\]' '[gpu-traffic]\nsms = 3\n'
phold_refuses "d.ini:2: \[phold\] has no key 'island'; did you mean islands\?" '[phold]\nisland = 3\n'
phold_refuses "d.ini:2: \[phold\] has no key 'zzzzzz' .*heddle params phold" '[phold]\nzzzzzz = 3\n'
phold_refuses 'd.ini:2: phold.islands: expected 1\.\.500000, not 500001' '[phold]\nislands = 500001\n'
phold_refuses "d.ini:2: phold.islands: .*'0x10'" '[phold]\nislands = 0x10\n'
phold_refuses 'd.ini:2: phold.islands: .*99999999999999999999' '[phold]\nislands = 99999999999999999999\n'
phold_refuses "d.ini:2: phold.mean: expected a time with its unit, such as 50ns, not '3'" '[phold]\nmean = 3\n'
phold_refuses "d.ini:2: phold.mean: expected a time.*'3 parsecs'" '[phold]\nmean = 3 parsecs\n'
phold_refuses "d.ini:2: phold.mean: expected a time.*'3MHz'" '[phold]\nmean = 3MHz\n'
phold_refuses "d.ini:2: phold.mean: '0.5ps' is finer than" '[phold]\nmean = 0.5ps\n'
phold_refuses "d.ini:2: phold.mean: '99999999999s' is too large" '[phold]\nmean = 99999999999s\n'
phold_refuses 'd.ini:2: phold.mean: expected 0\.\.1s, not 2s' '[phold]\nmean = 2s\n'

phold_refuses 'd.ini:1: cannot read missing.ini: No such file' 'include = missing.ini\n'
phold_refuses "d.ini:1: this include goes round in a circle: 'd.ini'" 'include = d.ini\n'
mkdir parts
echo 'include = ../d.ini' >parts/back.ini
phold_refuses "parts/back.ini:1: this include goes round in a circle: '../d.ini'" 'include = parts/back.ini\n'
printf '# fine\n[phold]\nisland = 3\n' >parts/wrong.ini
phold_refuses "parts/wrong.ini:3: \[phold\] has no key 'island'" 'include = parts/wrong.ini\n'

# network_refuses REGEX TEXT: the same for a network that has the nodes a, b and c.
network_refuses() {
    describes "[node.a]\nhops = 5\n[node.b]\nhops = 0\n[node.c]\nhops = 0\n$2"
    refuses "$1" bench network --config d.ini
}

network_refuses 'link ab has latency 0 between the islands a and b' '[link.ab]\nends = a.x b.x\nlatency = 0\n'
network_refuses 'latency 0 between the islands' '[link.ab]\nends = a.x b.x c.x\nlatency = 0ps\n'
network_refuses 'd.ini:[0-9]+: port b.x is connected twice: to link ab and to link bc' \
    '[link.ab]\nends = a.x b.x\n[link.bc]\nends = b.x c.x\n'
network_refuses 'port a.x is connected twice' '[link.ab]\nends = a.x a.x\n'
network_refuses 'd.ini:[0-9]+: \[link.ab\]: ends names z.x, but there is no \[node.z\]' '[link.ab]\nends = a.x z.x\n'
network_refuses 'link ab has 1 of the two ports' '[link.ab]\nends = a.x\n'
network_refuses 'link ab has 0 of the two ports' '[link.ab]\nlatency = 5ns\n'
network_refuses "d.ini:[0-9]+: \[link.ab\]: expected NODE.PORT in ends, not 'b'" '[link.ab]\nends = a.x b\n'
network_refuses 'there is no section \[link\]; did you mean \[link\.\*\]' '[link]\nlatency = 5ns\n' # a link needs a name
network_refuses "\[link.ab\] has no key 'latenzy'; did you mean latency\?" '[link.ab]\nlatenzy = 5ns\n'
network_refuses "node.d.takes: expected yes or no, not 'perhaps'" '[node.d]\ntakes = perhaps\n'
network_refuses 'node.d.payload: expected 8\.\.24, not 4' '[node.d]\npayload = 4\n'
network_refuses "link.ab.bandwidth: .*'5ns'" '[link.ab]\nbandwidth = 5ns\n'
describes '[network]\ntime = 1us\n'
refuses 'nothing to simulate' bench network --config d.ini
refuses 'link requests has latency 0 between the islands' bench gpu-traffic --latency-cycles 0

# ---- checkpoints ----

small=(--islands 8 --time 100ns)
run bench phold "${small[@]}" --checkpoint saved --at 50ns
expect_status 0
run bench gpu-traffic --sms 4 --partitions 2 --requests 50 --checkpoint traffic --at 100ns
expect_status 0
refuses 'cannot read missing: No such file' bench phold --resume missing
refuses 'cannot read \.: Is a directory' bench phold --resume .
: >empty
refuses 'empty is no checkpoint' bench phold --resume empty
refuses 'd.ini is no checkpoint' bench phold --resume d.ini
bytes=$(stat -c %s saved)
for keep in 1 7 8 20 30 200 $((bytes / 2)) $((bytes - 8)) $((bytes - 1)); do
    head -c "$keep" saved >short
    refuses 'short (is|was) ' bench phold --resume short
done
{ cat saved; printf x; } >longer
refuses 'longer is damaged' bench phold --resume longer
for at in 0 9 17 25 40 $((bytes / 3)) $((bytes / 2)) $((bytes - 9)) $((bytes - 1)); do
    python3 - "$at" <<'END'
import sys
data = bytearray(open("saved", "rb").read())
data[int(sys.argv[1])] ^= 4
open("flipped", "wb").write(data)
END
    refuses 'flipped (is|was) ' bench phold --resume flipped
done
refuses 'traffic was saved by bench gpu-traffic' bench phold --resume traffic
refuses 'saved was saved by bench phold' bench gpu-traffic --resume saved
refuses 'saved was saved by bench phold' bench network --resume saved
refuses '\-\-islands: a resumed run has the parameters it was saved with' bench phold --resume saved --islands 9
refuses '\-\-set: a resumed run has the parameters it was saved with' bench phold --resume saved --set engine.seed=2
refuses '\-\-until: saved is at [0-9]+ ps already' bench phold --resume saved --until 1ps
refuses '\-\-at: saved is at [0-9]+ ps already' bench phold --resume saved --checkpoint again --at 1ps

# ---- output that would destroy something, or cannot be written ----

describes '[phold]\nislands = 3\n'
refuses '\-\-json would write over the description d.ini' bench phold --config d.ini --json d.ini
refuses '\-\-json and --checkpoint name the same file' bench phold --json x --checkpoint x
refuses '\-\-json and --checkpoint name the same file' bench phold --json x --checkpoint ./x
echo 'include = d.ini' >outer.ini
refuses '\-\-json would write over the description d.ini' bench phold --config outer.ini --json d.ini
refuses '\-\-json would write over the checkpoint saved' bench phold --resume saved --json saved
refuses '\-\-dump-config would write over the checkpoint saved' bench phold --resume saved --dump-config saved
refuses '/dev/zero is no checkpoint' bench phold --resume /dev/zero

refuses 'cannot write none/x.json: No such file' bench phold "${small[@]}" --json none/x.json
refuses 'cannot write \.: Is a directory' bench phold "${small[@]}" --json .
refuses 'cannot write none/saved: No such file' bench phold "${small[@]}" --checkpoint none/saved --at 50ns
refuses 'cannot write d.ini/x.json: Not a directory' bench phold "${small[@]}" --json d.ini/x.json
if ((EUID)); then # root may write everywhere
    mkdir locked
    chmod a-w locked
    refuses 'cannot write locked/x.json: Permission denied' bench phold "${small[@]}" --json locked/x.json
fi
if [[ -c /dev/full ]]; then
    refuses 'cannot write /dev/full: ' bench phold "${small[@]}" --json /dev/full
    refuses 'cannot write /dev/full: ' bench phold "${small[@]}" --checkpoint /dev/full --at 50ns
    for words in 'bench phold --islands 8 --time 10ns' help version params 'completion bash' '--help' 'help bench'; do
        ran="heddle $words >/dev/full"
        : >out
        # shellcheck disable=SC2086 # several words
        "$HEDDLE" $words >/dev/full 2>err
        status=$?
        expect_complaint 'cannot write to standard output: No space left on device'
    done
fi
leftover=$(find . -name '*.part')
expect_same 'files left behind' '' "$leftover"
