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

# ---- a kernel that fails does so at the same time, and others had come as far ----

cat >fails.ptx <<'END'
.version 7.0
.target sm_70
.address_size 64
.visible .entry fails(.param .u64 memory)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<2>;
    .reg .pred %p<3>;
    ld.param.u64 %rd1, [memory];
    ld.global.u32 %r1, [%rd1];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, 0;
more:
    add.u32 %r2, %r2, 1;
    setp.eq.u32 %p1, %r1, 37;
    setp.eq.and.u32 %p2, %r2, 150, %p1;
    mov.u64 %rd1, 16;
    @%p2 st.global.u32 [%rd1], %r2;
    setp.lt.u32 %p1, %r2, 400;
    @%p1 bra more;
    ret;
}
END
gcc -o launch "$HEDDLE_HOME/tests/programs/launch.c" -L"$(dirname "$HEDDLE")/cuda" -l:libcuda.so.1 || fail 'launch.c does not compile'
for threads in 1 2 5; do
    run run --mode timing --set gpu.sm_count=16 --no-progress --threads $threads --json result.json ./launch fails.ptx fails 64 64 64
    expect_line err 'a null pointer'
    python3 -c 'import json; print(json.load(open("result.json"))["launches"])' >"$threads.launches"
    expect_same_file "$ran and with 1 thread" 1.launches "$threads.launches"
done

# ---- streams that blocks make, and what they launch into them ----

cat >children.ptx <<'END'
.version 8.0
.target sm_90
.address_size 64
.extern .func (.param .b32 a) __cudaCDP2StreamCreateWithFlags(.param .b64 b, .param .b32 c);
.extern .func (.param .b64 a) __cudaCDP2GetParameterBufferV2(.param .b64 b, .param .align 4 .b8 c[12], .param .align 4 .b8 d[12], .param .b32 e);
.extern .func (.param .b32 a) __cudaCDP2LaunchDeviceV2(.param .b64 b, .param .b64 c);
.visible .entry child(.param .u32 rounds)
{
    .reg .b32 %r<3>;
    .reg .pred %p;
    ld.param.u32 %r1, [rounds];
more:
    sub.u32 %r1, %r1, 1;
    setp.gt.s32 %p, %r1, 0;
    @%p bra more;
    ret;
}
.visible .entry parent(.param .u64 memory)
{
    .reg .b32 %r<5>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [memory];
    mov.u32 %r1, %ctaid.x;
    mul.wide.u32 %rd2, %r1, 8;
    add.u64 %rd1, %rd1, %rd2;
    mov.u32 %r2, 1;
    {
        .param .b64 p0; .param .b32 p1; .param .b32 q;
        st.param.b64 [p0], %rd1;
        st.param.b32 [p1], %r2;
        call.uni (q), __cudaCDP2StreamCreateWithFlags, (p0, p1);
    }
    mov.u64 %rd3, child;
    {
        .param .b64 p0; .param .align 4 .b8 p1[12]; .param .align 4 .b8 p2[12]; .param .b32 p3; .param .b64 q;
        st.param.b64 [p0], %rd3;
        st.param.b32 [p1], %r2; st.param.b32 [p1+4], %r2; st.param.b32 [p1+8], %r2;
        st.param.b32 [p2], %r2; st.param.b32 [p2+4], %r2; st.param.b32 [p2+8], %r2;
        mov.u32 %r3, 0;
        st.param.b32 [p3], %r3;
        call.uni (q), __cudaCDP2GetParameterBufferV2, (p0, p1, p2, p3);
        ld.param.b64 %rd4, [q];
    }
    mul.lo.u32 %r4, %r1, 40;
    st.u32 [%rd4], %r4;
    ld.global.u64 %rd5, [%rd1];
    {
        .param .b64 p0; .param .b64 p1; .param .b32 q;
        st.param.b64 [p0], %rd4;
        st.param.b64 [p1], %rd5;
        call.uni (q), __cudaCDP2LaunchDeviceV2, (p0, p1);
    }
    ret;
}
END
for threads in 1 2 5; do
    run run --mode timing --set gpu.sm_count=16 --no-progress --threads $threads --json result.json ./launch children.ptx parent 64 1 512
    expect_status 0
    python3 -c 'import json; print(json.load(open("result.json"))["launches"])' >"$threads.children"
    expect_same_file "$ran and with 1 thread" 1.children "$threads.children"
done

run run --mode timing --unified 2 --set gpu.sm_count=16 --no-progress ./launch fails.ptx fails 64 64 64
expect_line err '^fabric: [1-9]' # the machine was made anew
