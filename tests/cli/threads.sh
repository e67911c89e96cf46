#!/usr/bin/env bash
# The results do not depend on the number of threads: neither the closing line nor a byte of the JSON outside "host".
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# without_host FILE: the JSON less what tells of the host.
without_host() {
    python3 - "$1" <<'END'
import json, sys
whole = json.load(open(sys.argv[1]))
del whole["host"]
print(json.dumps(whole, indent=1))
END
}

same_for_all() {
    local wanted='' threads
    for threads in 1 2 3 8 16; do
        run bench "$@" --threads "$threads" --json result.json
        expect_status 0
        expect_empty err
        without_host result.json >"$threads.json"
        if ((threads == 1)); then
            wanted=$(result)
            [[ -n $wanted ]] || fail "$ran: no closing line in: $(cat out)"
        else
            expect_same "$ran and with 1 thread" "$wanted" "$(result)"
            expect_same_file "JSON of $ran and with 1 thread" 1.json "$threads.json"
        fi
    done
}

a_network >network.ini
same_for_all phold --islands 64 --time 1us
same_for_all phold --islands 5 --population 3 --remote 1 --mean 0 --time 300ns # fewer islands than threads, all at once
same_for_all phold --islands 1 --time 1us
same_for_all gpu-traffic --sms 12 --partitions 8 --requests 500
same_for_all gpu-traffic --sms 16 --partitions 1 --requests 200 --credits 1 # all wait for one
same_for_all network --config network.ini --set network.time=5us
same_for_all network --config network.ini # to its end

# the seed matters, the threads do not
run bench phold --islands 64 --time 100ns
one=$(result)
run bench phold --islands 64 --time 100ns --set engine.seed=2 --threads 3
[[ $(result) != "$one" ]] || fail "two seeds give the same result: $one"
run bench phold --islands 64 --time 100ns --threads all
expect_result "$one"
