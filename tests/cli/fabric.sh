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

run system
expect_status 0
expect_line out '^h200: 1 GPU, 132 SMs'

# ---- refused ----

refused() { # WORDS MESSAGE
    # shellcheck disable=SC2086
    run system $1
    expect_status 2
    expect_line err "^heddle: .*$2"
    [[ $(wc -l <err) == 1 ]] || fail "system $1: more than one line"
}
refused 'h200 --gpus 0' 'system.gpus: expected 1..64'
refused 'h200 --gpus 6 --set fabric.topology=mesh --set fabric.columns=4' '6 GPUs are not rows of 4'
refused 'h200 --gpus 2 --set fabric.switch_latency=400ns' 'fabric.switch_latency'
refused 'h200 --gpus 2 --svg x.png' 'svg'

description() { printf 'include = h200.ini\n[system]\ngpus = 3\n[fabric]\ntopology = graph\n%b' "$1" >own.ini; }
description '[fabric.link.a]\nends = gpu0 gpu1\n'
refused ./own.ini 'there is no way from gpu0 to gpu2'
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
printf '[gpus.a]\nsystem = nosuch\n' >mixed.ini
refused ./mixed.ini "there is no system 'nosuch'.*mixed.ini:1"

# ---- what programs compute does not depend on it ----

for topology in switch ring mesh full; do
    run bench allreduce --mode timing --gpus 4 --set fabric.topology=$topology --set gpu.sm_count=4 --bytes 4KiB
    expect_status 0
done
