#!/usr/bin/env bash
# ./heddle package: what is in the Debian packages and in the archive, and that both work where they are unpacked, without
# the source tree. tools/try-packages installs them on a clean Debian, by hand.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
for tool in cmake dpkg-deb dpkg-shlibdeps zstd python3; do
    needs $tool
done
sources=$HEDDLE_HOME
build=$(dirname "$HEDDLE")
unset HEDDLE_HOME

"$sources/tools/make-packages" --build "$build" --output made --fast >listed 2>err || fail "make-packages: $(cat err)"
expect_empty err
version=$("$HEDDLE" --version)
version=${version#heddle }

# ---- what is where ----

# holds PACKAGE PATH...: these are in the package; its files go to the file PACKAGE, too.
holds() {
    local package=$1 path
    dpkg-deb --fsys-tarfile made/"$package"_"$version"_*.deb | tar -tf - | sed 's|^\./||; /\/$/d' >"$package"
    for path in "${@:2}" "usr/share/doc/$package/copyright" "usr/share/doc/$package/changelog.gz"; do
        grep -qxF "$path" "$package" || fail "$package has no $path"
    done
}
holds heddle usr/bin/heddle usr/lib/libheddle.so usr/lib/heddle/cuda/libcuda.so.1 usr/share/heddle/systems/h200.ini \
    usr/share/man/man1/heddle-run.1.gz usr/share/bash-completion/completions/heddle \
    usr/share/zsh/vendor-completions/_heddle usr/share/fish/vendor_completions.d/heddle.fish
holds libheddle-dev usr/include/heddle.h usr/include/heddle_plugin.h usr/lib/pkgconfig/heddle.pc \
    usr/lib/cmake/heddle/heddle-config.cmake
holds python3-heddle usr/lib/python3/dist-packages/heddle/__init__.py usr/lib/python3/dist-packages/heddle/py.typed
holds heddle-doc usr/share/doc/heddle/running.md usr/share/doc/heddle/examples/plugins/lfu.c
expect_same 'files in two packages' '' "$(sort heddle libheddle-dev python3-heddle heddle-doc | uniq -d)"
expect_same 'files of no use' '' "$(cat heddle python3-heddle | grep -E '__pycache__|\.(o|a|part)$')"

# field PACKAGE NAME
field() { dpkg-deb -f made/"$1"_"$version"_*.deb "$2"; }
field heddle Depends >depends
expect_line depends 'libc6 \(>= .*libjansson4 .*libzstd1'
! grep -q mpi depends || fail 'heddle depends on MPI'
expect_same 'what libheddle-dev needs' "heddle (= $version)" "$(field libheddle-dev Depends)"
expect_same 'architecture of the documentation' all "$(field heddle-doc Architecture)"

# ---- they work where they are unpacked ----

for package in made/*.deb; do
    dpkg-deb -x "$package" root
done
find root -type f -perm -u+x -exec grep -lF "$sources" {} + >found
expect_same 'programs with paths of the source tree' '' "$(cat found)"
find root -xtype l >found
expect_same 'broken links' '' "$(cat found)"
HEDDLE=$folder/root/usr/bin/heddle
run bench saxpy --system v100 --n 4096
expect_status 0
run doctor
expect_status 0
PYTHONPATH=root/usr/lib/python3/dist-packages python3 -c 'import heddle; print(heddle.library_version())' >out 2>err ||
    fail "the Python package: $(tail -n 2 err)"
expect_line out "^$version\$"

zstd -dcq made/heddle-"$version"-*.tar.zst | tar -xf -
HEDDLE=$(echo "$folder"/heddle-"$version"-*/bin/heddle)
run bench saxpy --n 4096
expect_status 0

# ---- the same source gives the same bytes ----

"$sources/tools/make-packages" --build "$build" --output again --fast >/dev/null
for package in made/*; do
    expect_same_file "$package, made twice" "$package" "again/${package##*/}"
done

if command -v lintian >/dev/null; then
    lintian --fail-on error --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog made/*.deb >out 2>err ||
        fail "lintian: $(head -n 5 out)"
fi

# ---- wrong uses ----

refuse() { # REGEX WORD...
    "$sources/tools/make-packages" "${@:2}" >out 2>err && fail "make-packages ${*:2} is taken"
    expect_lines err 1
    expect_line err "$1"
}
refuse "package: unexpected word 'x'" x
refuse 'package: expected a folder behind --output' --output
refuse 'package: .*nowhere has no build of heddle' --build nowhere
