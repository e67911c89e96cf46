#!/usr/bin/env bash
# ./heddle of the source tree: works from everywhere, builds when something changed, and tells when that fails. It is
# tried on a copy of the tree whose build holds the program to test; a stand-in for cmake notes that it was called.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

tree="$folder/a tree" # with a blank in its name
mkdir -p "$tree/build/release" tools elsewhere/bin
cp -a "$HEDDLE_HOME"/{heddle,tools,src,bench,cmake,CMakeLists.txt,CMakePresets.json} "$tree"
cp "$HEDDLE" "$tree/build/release/heddle"
touch "$tree/build/release/build.ninja" "$tree/build/.packages-build" "$tree/build/release/.built"
cat >tools/cmake <<'END'
#!/usr/bin/env bash
echo "$@" >>"$NOTES"
[[ ! -e $NOTES.fail ]] || { echo 'x.c:1: error: this is what went wrong'; exit 1; }
END
chmod +x tools/cmake
export NOTES=$folder/notes PATH=$folder/tools:$PATH

# call PROGRAM WORD...: like run, for the wrapper.
call() {
    ran="$*"
    timeout 60 env -u HEDDLE_HOME "$@" >"$folder/out" 2>"$folder/err" </dev/null
    status=$?
}

# is_quiet: the last call printed the version and nothing else, and built nothing.
is_quiet() {
    expect_status 0
    expect_same_file "$ran" wanted out
    expect_empty err
    [[ ! -e notes ]] || fail "$ran: built although nothing has changed: $(cat notes)"
}

"$HEDDLE" version >wanted
call "$tree/heddle" version
is_quiet
cd elsewhere || exit
call '../a tree/heddle' version
cd ..
is_quiet
ln -s "$tree/heddle" elsewhere/bin/heddle
ln -s bin/heddle elsewhere/twice # a link to a link
call elsewhere/bin/heddle version
is_quiet
call elsewhere/twice version
is_quiet
PATH=$folder/elsewhere/bin:$PATH call heddle version
is_quiet
cd "$tree" || exit
call ./heddle version
cd "$folder" || exit
is_quiet

# words, files and the exit status are passed on as they are
call elsewhere/twice bench phold --set 'phold.islands=4 4'
expect_status 2
expect_line err "'4 4'"
call elsewhere/twice benhc
expect_status 2
cd elsewhere || exit
call bin/heddle bench phold --islands 4 --time 50ns --json here.json
cd ..
expect_status 0
[[ -s elsewhere/here.json ]] || fail "$ran: the JSON is not in the folder it was called from"
# the tree it belongs to is found by what it starts
cat >"$tree/tools/test" <<'END'
#!/bin/sh
printf '%s|' "$HEDDLE_HOME" "$@"
END
call elsewhere/twice test -R 'a b'
expect_same "$ran" "$tree|-R|a b|" "$(cat out)"

# something changed: it is built, once
touch -d '+2 seconds' "$tree/src/cli/main.c"
touch -d '+1 seconds' "$tree/build/release/.built"
call elsewhere/twice version
expect_status 0
expect_same_file "$ran" wanted out
expect_same "$ran: builds" "--build $tree/build/release --target heddle" "$(cat notes 2>/dev/null)"
rm -f notes
touch -d '+3 seconds' "$tree/build/release/.built"
call elsewhere/twice version
is_quiet

# a build that fails: what the compiler said, where the rest is, and no old program is run
touch notes.fail
rm "$tree/build/release/.built"
call elsewhere/twice version
expect_status 1
expect_empty out
expect_line err 'x.c:1: error: this is what went wrong'
expect_line err '^heddle: the release build failed; all of its output is in .*/build/release/.log$'
# and the next call tries again
rm notes notes.fail
call elsewhere/twice version
expect_status 0
expect_same "$ran: builds" "--build $tree/build/release --target heddle" "$(cat notes 2>/dev/null)"

# ---- a program that uses OpenCL: what that needs is installed, once; other programs need nothing ----

touch -d '+4 seconds' "$tree/build/release/.built"
printf '#!/bin/sh\nexit 1\n' >tools/dpkg-query # nothing is installed
cat >tools/apt-get <<'END'
#!/bin/sh
echo "$@" >>"$NOTES.packages"
[ ! -e "$NOTES.fail" ]
END
printf '#!/bin/sh\n[ "$1" = -n ] || exec "$@"\n' >tools/sudo
chmod +x tools/{dpkg-query,apt-get,sudo}
printf '#!/bin/sh\n' >plain
printf '#!/bin/sh\n# libOpenCL.so.1\n' >uses
chmod +x plain uses
rm -f notes

call elsewhere/twice run ./plain
[[ ! -e notes && ! -e notes.packages ]] || fail "$ran: installs or builds for OpenCL"
touch notes.fail # nothing can be installed: it says so, and runs the program
call elsewhere/twice run --mode functional ./uses
expect_line err '^heddle: could not install: opencl-headers .* clang-19 .*rocm-device-libs$'
[[ ! -e notes ]] || fail "$ran: builds although nothing was installed"
rm -f notes.fail notes.packages
call elsewhere/twice run --mode functional ./uses
expect_line err '^heddle: installing opencl-headers .* clang-19 .*rocm-device-libs$'
expect_line notes.packages '^install -y .*rocm-device-libs$'
expect_line notes '^--preset release -UOPENCL_HEADERS$'
rm -f notes notes.packages
mkdir "$tree/build/release/opencl"
touch "$tree/build/release/opencl/libheddle_opencl.so"
call elsewhere/twice run --mode functional ./uses
[[ ! -e notes && ! -e notes.packages ]] || fail "$ran: installs or builds again"
