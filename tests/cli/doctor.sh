#!/usr/bin/env bash
# heddle doctor: tools of the host, parts of the build, and its exit status.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# ---- a host that has a gcc and another program of the name of MPI's starter ----

mkdir tools
printf '#!/bin/sh\necho "gcc (Some) 99.8.7"\n' >tools/gcc
printf '#!/bin/sh\necho "hello 1.2"\n' >tools/mpirun
printf '#!/bin/sh\nexit 1\n' >tools/qemu-x86_64
chmod +x tools/*
path=$PATH
PATH=$folder/tools
run_here() { # timeout is not in that PATH
    ran="heddle $*"
    "$HEDDLE" "$@" >out 2>err
    status=$?
}
run_here doctor
PATH=$path
expect_status 0
expect_empty err
expect_line out '^  yes +gcc +99\.8\.7 +build Heddle'
expect_line out "^ +$folder/tools/gcc\$"
expect_line out '^  no +Open MPI .*--ranks'
expect_line out '^ +apt install openmpi-bin'
expect_line out '^  no +QEMU, programs ' # it says nothing of QEMU
expect_line out '^  yes +libheddle '

# ---- programs that leave a process behind, which keeps their output open; that never end; that write for ever ----

mkdir odd
cat >odd/gcc <<'END'
#!/bin/sh
/bin/sleep 300 &
echo $! >sleeper
echo "gcc (Some) 77.6.5"
END
printf '#!/bin/sh\ntrap "" ALRM TERM\necho $$ >stubborn\necho "Open MPI 5.4.3"\nwhile :; do /bin/sleep 1; done\n' >odd/mpirun
printf '#!/bin/sh\nexec /usr/bin/yes qemu-x86_64 version 3.2.1\n' >odd/qemu-x86_64
chmod +x odd/*
PATH=$folder/odd
SECONDS=0
run_here doctor
PATH=$path
took=$SECONDS
expect_status 0
expect_line out '^  yes +gcc +77\.6\.5 '
expect_line out '^  yes +QEMU, programs +3\.2\.1 '
((took < 60)) || fail "$ran: it took $took s"
[[ -e /proc/$(cat sleeper) ]] || fail 'the process that was left behind has ended: nothing was tried'
! kill -0 "$(cat stubborn)" 2>/dev/null || fail 'a program that never ends was left'
kill "$(cat sleeper)"

# ---- JSON ----

run doctor --json list.json
expect_status 0
expect_line out '^On this host:$'
run doctor --json -
expect_status 0
python3 - <<'END' || fail 'the JSON is not as expected'
import json
for text in open("out").read(), open("list.json").read():
    tools = {tool["name"]: tool for tool in json.loads(text)["tools"]}
    assert tools["libheddle"]["of"] == "heddle" and tools["libheddle"]["found"] is True
    assert tools["libheddle"]["path"].endswith("libheddle.so")
    for tool in tools.values():
        assert tool["feature"]
        assert tool["found"] or tool["debian_packages"], tool
END

# ---- builds that are broken ----

mkdir bin
cp "$HEDDLE" bin/heddle
ln -s "$HEDDLE_HOME/systems" "$HEDDLE_HOME/studies" .
built=$HEDDLE
HEDDLE=$folder/bin/heddle
run doctor
[[ $status == 1 ]] || fail "$ran: status $status without any part"
expect_line out '^  broken +libheddle '
expect_line err '^heddle: doctor: [0-9]+ parts of this build cannot be used'
for part in cuda hip boot; do
    cp -rs "$(dirname "$built")/$part" "bin/$part"
done
run doctor
expect_status 0
expect_empty err
home=$HEDDLE_HOME
export HEDDLE_HOME=$folder # where data is looked for
rm systems
run doctor
expect_line out '^  broken +systems '
expect_line err '^heddle: doctor: 1 part of this build'
ln -s "$home/systems" .
mkdir bin/ranks
echo 'no library' >bin/ranks/libheddle_ranks.so
run doctor
expect_line out '^  broken +ranks, Open MPI '
expect_line err '^heddle: doctor: 1 part of this build'

# An optional part that needs a library of the host, which is not there.
if has gcc 'a part that lacks a library'; then
    gcc -shared -o libnowhere.so -Wl,-soname,libnowhere.so.1 -x c - <<<'int nowhere(void) { return 1; }'
    gcc -shared -o bin/ranks/libheddle_ranks.so -x c - -L. -Wl,--no-as-needed -lnowhere <<<'int unused;'
    run doctor
    expect_status 0
    expect_line out '^ +it needs libnowhere\.so\.1: apt install'
fi
HEDDLE=$built

# ---- wrong uses ----

refuses "doctor: unexpected word 'gcc'" doctor gcc
refuses 'unknown option --jsn; did you mean --json' doctor --jsn -
refuses 'no/such' doctor --json no/such/folder/x
