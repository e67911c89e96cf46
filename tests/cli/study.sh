#!/usr/bin/env bash
# `heddle study`: how parallel a model is, and what threads gain. How fast they are is not tested here.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# ---- islands that can run at once ----

run study events --system r9nano --only '^(aes|fir)$' --svg events.svg
expect_status 0
expect_empty err
expect_line out 'model r9nano'
expect_line out '^fir +[0-9]+ +[0-9]+ +[0-9]+ +[0-9.]+ +[0-9]+$'
awk '/^(aes|fir) / { if ($2 < 100 || $3 < 1 || $3 > $4 || $4 > $6 || $5 > $6 || $6 < 64 || $6 > 200) exit 1; n++ } END { exit n != 2 }' out ||
    fail 'the 64 CUs have something to do at once, with few others'
sed 1d out >once
run study events --system r9nano --only '^(aes|fir)$'
sed 1d out | cmp -s - once || fail 'a second time gives other windows'

# ---- threads: also where kernels are PTX ----

run study threads --system r9nano --only '^simpleconvolution$' --threads 4 --repeats 1 --svg threads.svg
expect_status 0
expect_line out '^workload +mode +1 thread, s +2 threads +4 threads$'
expect_line out '^simpleconvolution +functional +[0-9.]+ +[0-9.]+x +[0-9.]+x$'
expect_line out '^simpleconvolution +timed +[0-9.]+ +[0-9.]+x +[0-9.]+x$'
expect_line out '^mean +timed +[0-9.]+x +[0-9.]+x$'
run study events --only '^aes$'
expect_status 0
expect_line out 'model h200'
python3 - <<'END' || fail 'a drawing is wrong'
import xml.dom.minidom
assert len(xml.dom.minidom.parse("events.svg").getElementsByTagName("path")) > 10
titles = [node.firstChild.data for node in xml.dom.minidom.parse("threads.svg").getElementsByTagName("title")]
assert sum("threads: " in title for title in titles) == 8, titles # two modes of two counts, and their means
END

# ---- mistakes ----

refuses "there is no study 'event'; did you mean events\?" study event
refuses "no workload of a study is like 'none'" study events --only none
refuses "'\(' is no regular expression" study threads --only '('
refuses "--repeats: expected a number from 1 to 100, not 'all'" study threads --repeats all
refuses "unexpected word 'aes'" study events aes
refuses "no system 'h2000'" study events --system h2000
refuses '--svg: a drawing is written as SVG' study events --only '^aes$' --svg x.png
refuses 'cannot write none/x.svg' study events --only '^aes$' --svg none/x.svg
