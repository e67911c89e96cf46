#!/usr/bin/env bash
# An installation works wherever it is moved to, without the source tree: programs are built against it with pkg-config and
# run, and the command finds its descriptions, its libraries and what was measured.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
needs cmake
needs pkg-config
sources=$HEDDLE_HOME
unset HEDDLE_HOME

cmake --install "$(dirname "$HEDDLE")" --prefix "$folder/first" >log 2>&1 || fail "cmake --install: $(tail -n 5 log)"
mv first moved
HEDDLE=$folder/moved/bin/heddle
PKG_CONFIG_PATH=$(dirname "$(find moved -name heddle.pc)")
export PKG_CONFIG_PATH

# ---- no path of the source tree, and no link that leads nowhere ----

find moved -type f -perm -u+x -exec grep -lF "$sources" {} + >found
expect_same 'programs with paths of the source tree' '' "$(cat found)"
expect_same 'broken links' '' "$(find moved -xtype l)"

# ---- one version ----

run --version
expect_line out "^heddle $(pkg-config --modversion heddle)\$"
expect_line moved/include/heddle.h "^#define HEDDLE_VERSION +\"$(pkg-config --modversion heddle)\"\$"

# ---- a program with heddle.h ----

read -ra flags < <(pkg-config --cflags --libs heddle)
cc -Wall -Wextra -Werror -o saxpy "$sources/docs/examples/saxpy.c" "${flags[@]}" || fail 'saxpy.c does not compile'
cc -Wall -Werror -o which -x c - "${flags[@]}" <<'END_C' || fail 'a program that asks for the version does not compile'
#include <heddle.h>
#include <stdio.h>
#if HEDDLE_VERSION_MAJOR == 0 && HEDDLE_VERSION_MINOR < 1
#error "too old"
#endif
int main(void)
{
    struct heddle *v100 = heddle_open("v100"); /* a description that has to be found */
    printf("%s %s %d\n", HEDDLE_VERSION, heddle_version(), v100 ? (int)heddle_property(v100, "sm_count") : -1);
    return 0;
}
END_C
ran='./saxpy' status=0
timeout 60 ./saxpy "$sources/bench/cuda/saxpy.ptx" >out 2>err || status=$?
expect_status 0
expect_empty err
expect_same 'versions and SMs of a V100' "$(pkg-config --modversion heddle) $(pkg-config --modversion heddle) 80" "$(./which)"

# ---- a program built by CMake ----

mkdir project
cat >project/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.22)
project(saxpy C)
find_package(heddle 0.1 REQUIRED)
add_executable(saxpy ${SAXPY})
target_link_libraries(saxpy heddle::heddle)
END
cmake -S project -B project/build -DSAXPY="$sources/docs/examples/saxpy.c" -DCMAKE_PREFIX_PATH="$folder/moved" >log 2>&1 &&
    cmake --build project/build >>log 2>&1 || fail "a project of CMake: $(tail -n 5 log)"
./project/build/saxpy "$sources/bench/cuda/saxpy.ptx" >again || fail 'a program built by CMake fails'
expect_same_file 'what saxpy prints, built in two ways' out again

# ---- the command ----

gcc -o useptx "$sources/tests/programs/ptx.c" -L"$(dirname "$(find moved -name libcuda.so.1)")" -l:libcuda.so.1 ||
    fail 'ptx.c does not compile'
run run --system a100 --mode timing --set gpu.sm_count=4 ./useptx "$sources/bench/cuda/saxpy.ptx"
expect_status 0
run bench saxpy --system v100 --n 4096
expect_status 0
run study cache-size --quick --only workload=transpose --only l2=60MiB
expect_status 0
expect_line out '^transpose +[0-9,]+$'
run validate --only saxpy_small
expect_status 0
expect_line out '^NVIDIA H200, '

# ---- manual pages and completions ----

for file in man/man1/heddle.1 man/man1/heddle-run.1 bash-completion/completions/heddle zsh/vendor-completions/_heddle \
    fish/vendor_completions.d/heddle.fish; do
    [[ -s moved/share/$file ]] || fail "share/$file is not installed"
done
