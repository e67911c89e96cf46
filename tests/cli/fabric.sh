#!/usr/bin/env bash
# Fabrics: what descriptions say is what is built and shown; what cannot be is refused in one line.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# ---- shown ----

run system v100-dgx1 --svg dgx.svg
expect_status 0
expect_line out '^v100-dgx1: 8 GPUs, 640 SMs'
expect_line out '^ +gpu0 +- +350 / 25 +350 / 25 +350 / 50 +350 / 50 +1500 / 13 ' # NVLinks, and PCIe for the rest
python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("dgx.svg")' || fail 'the drawing is no XML'

run system h200 --gpus 8 --set fabric.topology=torus --set fabric.columns=4 --set fabric.latency=300ns
expect_status 0
expect_line out '^ +gpu0 +- +300 / 150 +600 / 150 +300 / 150 '
expect_line out '^[0-9]+ layers of virtual channels'

run system --gpus 1
expect_status 0
expect_line out '^h200: 1 GPU, 132 SMs'

run system # those there are
expect_status 0
expect_line out '^  r9nano-x4 +4 x AMD Radeon R9 Nano, 64 SMs, 4GiB each; fabric: links and switches of its own$'
for name in "$HEDDLE_HOME"/systems/*.ini; do
    expect_line out "^  $(basename "$name" .ini) "
done

run system h200 --unified 2
expect_line out '^h200: 2 GPUs that programs see as one, 264 SMs'
run system h200 --monolithic 2
expect_line out '^h200: 1 GPU of 2 times the parts, 264 SMs'

# The example of the documentation: its half-duplex link is one link.
awk '/^include = h200.ini/ { shown = 1 } shown && /^```/ { exit } shown' "$HEDDLE_HOME/docs/multi-gpu.md" >example.ini
run system ./example.ini --svg example.svg
expect_status 0
expect_line out '^\|  \+- to left: 32GB/s both ways together \(half duplex\), 100ns$'
expect_line out '^ +gpu0 +- +270 / 100 +470 / 100 +470 / 100 +290 / 32 *$'
[[ $(grep -c '^+- host' out) == 1 ]] || fail 'there is more than one host'

# in_boxes FILE: links of the drawing that pass through a box where they do not end.
in_boxes() {
    python3 - "$1" <<'END'
import re, sys
text = open(sys.argv[1]).read()
boxes = [tuple(map(float, box)) for box in
         re.findall(r"<rect x='([\d.]+)' y='([\d.]+)' width='([\d.]+)' height='([\d.]+)' fill=", text)]
inside = lambda box, at: box[0] < at[0] < box[0] + box[2] and box[1] < at[1] < box[1] + box[3]
links = [[tuple(map(float, at)) for at in re.findall(r"[ML]([\d.]+) ([\d.]+)", path)]
         for path in re.findall(r" d='([^']*)'", text)]
assert len(boxes) > 4 and len(links) > 4
print(sum(any(inside(box, at) for at in link) for link in links for box in boxes
          if not inside(box, link[0]) and not inside(box, link[-1])))
END
}
expect_same 'links behind boxes' 0 "$(in_boxes dgx.svg)"
expect_same 'links behind boxes' 0 "$(in_boxes example.svg)"

# ---- refused ----

refused() { # WORDS MESSAGE
    # shellcheck disable=SC2086
    run system $1
    expect_status 2
    expect_line err "^heddle: .*$2"
    [[ $(wc -l <err) == 1 ]] || fail "system $1: more than one line"
}
refused 'h200 --gpus 0' "--gpus: expected a whole number from 1 to 64, not '0'"
refused 'h200 --gpus 2 --unified 2' '--unified does not go with --gpus: '
refused 'h200 --monolithic 8' 'system.monolithic .*at most 63 GPCs, so NVIDIA H200 can be 7 times as large, not 8 times$'
refused 'v100-dgx1 --gpus 4' 'v100-dgx1.ini: its fabric is drawn for 8 GPUs, and cannot be that of 4; .*fabric.topology='
refused 'v100-dgx1 --gpus 16' 'v100-dgx1.ini: its fabric is drawn for 8 GPUs, and cannot be that of 16; '
run system v100-dgx1 --gpus 4 --set fabric.topology=full
expect_status 0
run system r9nano-x4 --gpus 3 # whose links are those of any GPU
expect_status 0
refused 'h200 --gpus 6 --set fabric.topology=mesh --set fabric.columns=4' '6 GPUs are not rows of 4'
refused 'h200 --gpus 2 --set fabric.switch_latency=400ns' 'fabric.switch_latency'
refused 'h200 --gpus 2 --svg x.png' 'svg'

description() { printf 'include = h200.ini\n[system]\ngpus = 3\n[fabric]\ntopology = graph\n%b' "$1" >own.ini; }
description ''
refused ./own.ini 'own.ini: .*there is no way from gpu0 to gpu1; links or switches between them are missing'
refused 'h200 --gpus 2 --set fabric.topology=graph' '--set: .*there is no way from gpu0 to gpu1; links or switches'
description '[fabric.link.a]\nends = gpu0 gpu1\n'
refused ./own.ini 'own.ini: .*there is no way from gpu0 to gpu2; links or switches between them are missing'
description 'forward = no\n[fabric.link.a]\nends = gpu0 gpu1\n[fabric.link.b]\nends = gpu1 gpu2\n'
refused ./own.ini 'own.ini: .*there is no way from gpu0 to gpu2; with forward = yes in .fabric., GPUs pass on'
description '[fabric.link.a]\nends = gpu0 gpu1\nlatency = 0\n'
refused ./own.ini "own.ini:6: the link 'a' has no latency"
description '[fabric.link.a]\nends = gpu0 gpu9\n'
refused ./own.ini "there is no 'gpu9'"
description '[fabric.link.a]\nends = gpu0\n'
refused ./own.ini "expected two names"
description '[fabric.link.a]\nends = gpu1 gpu1\n'
refused ./own.ini 'joins gpu1 to itself'
description '[fabric.switch.s]\nports = 2\n[fabric.link.a]\nends = gpu* s\n'
refused ./own.ini "'s' has 3 links, and 2 ports"
description '[fabric.switch.s]\n[fabric.link.a]\nends = gpu* s\ncredits = 3\n'
run bench vecadd --n 1000 --mode timing --system ./own.ini
expect_line err "the link 'a0' has 3 credits"
description '[fabric.switch.s]\n[fabric.link.a]\nends = gpu* s\n[fabric.link.b]\nends = host s\nduplex = half\n'
run bench vecadd --n 1000 --mode timing --system ./own.ini --stats own.json
expect_status 0
python3 - <<'END' || fail 'copies do not pass the links'
import json
links = {link["name"]: link for link in json.load(open("own.json"))["links"]}
assert links["a0"]["bytes"][0] >= 4000 and links["a0"]["bytes"][1] >= 8000, links["a0"]
assert links["a1"]["bytes"] == [0, 0], links["a1"]
END

# ---- GPUs of different descriptions ----

printf '[gpus.fast]\nsystem = h200\ncount = 2\n[gpus.slow]\nsystem = a100\n' >mixed.ini
run system ./mixed.ini
expect_status 0
expect_line out ': 3 GPUs, 372 SMs, '
run bench allreduce --mode timing --system ./mixed.ini --bytes 4KiB --stats mixed.json
expect_status 0
printf '[gpus.a]\nsystem = h200\n[gpus.b]\nsystem = r9nano\n' >mixed.ini
run system ./mixed.ini
expect_status 0
expect_line out ': 2 GPUs, 196 SMs, '
printf '[paging]\npolicy = pm\n' >>mixed.ini
refused ./mixed.ini 'pages move .* between GPUs with lines of the same size only'
# There is one IOMMU for all that ask it.
printf 'include = r9nano-x2.ini\n[tlb]\nwalkers = 16\n' >wide.ini
printf '[gpus.a]\nsystem = r9nano-x2\n[gpus.b]\nsystem = ./wide.ini\n' >mixed.ini
refused ./mixed.ini 'the IOMMU .* has 8 walkers by .*, and 16 by .*: set tlb.walkers beside'
printf '[tlb]\nwalkers = 4\n' >>mixed.ini
run system ./mixed.ini
expect_status 0
printf '[gpus.a]\nsystem = nosuch\n' >mixed.ini
refused ./mixed.ini "there is no system 'nosuch'.*mixed.ini:1"

# ---- what programs compute does not depend on it ----

for topology in switch ring mesh full; do
    run bench allreduce --mode timing --gpus 4 --set fabric.topology=$topology --set gpu.sm_count=4 --bytes 4KiB
    expect_status 0
done
