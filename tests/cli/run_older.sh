#!/usr/bin/env bash
# Programs of CUDA 11 and 12: linked with libraries of the older names, or with the runtime inside. Neither nvcc is here:
# the libraries and the runtime that they are linked with are made of the names alone, each a function that fails.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
needs gcc
source=$HEDDLE_HOME/tests/programs/older.c libraries=$(dirname "$HEDDLE")/cuda

# runtime VERSION SOURCE: runtime.c, which has every function of the runtime that the program of this version calls.
runtime() {
    gcc -DCUDA="$1" -c -o older.o "$2" || fail "$2 does not compile"
    nm -u older.o | awk '$2 ~ /cuda/ { print "int " $2 "(int *p); int " $2 "(int *p) { return *p += 999; }" }' >runtime.c
}

for version in 11 12; do
    runtime $version "$source"
    name=libcudart.so.$version
    [[ $version == 11 ]] && name=libcudart.so.11.0
    echo "$name { global: *; };" >runtime.map
    gcc -shared -fPIC -Wl,-soname,$name -Wl,--version-script=runtime.map -o "$name" runtime.c
    gcc -o "older.$version" older.o -L. -l:"$name"
    gcc -c -o runtime.o runtime.c && gcc -o "inside.$version" older.o runtime.o
    rm "$name"
    for program in "older.$version" "inside.$version"; do
        run run "./$program"
        expect_status 0
        expect_line out '^older: ok$'
        run run --mode timing "./$program"
        expect_status 0
        expect_line out '^older: ok$'
    done
    readelf -V "older.$version" | grep -q "Name: $name" || fail "older.$version does not ask for $name"
    # the same functions by their addresses at run time
    cat >opens.c <<END
#include <dlfcn.h>
int main(void)
{
    void *library = dlopen("$name", RTLD_NOW);
    int version = 0, (*ask)(int *) = library ? (int (*)(int *))dlvsym(library, "cudaRuntimeGetVersion", "$name") : 0;
    return !ask || ask(&version) || version / 1000 != $version;
}
END
    gcc -D_GNU_SOURCE -o opens opens.c -ldl
    run run ./opens
    expect_status 0
done

# references to textures and surfaces, which only CUDA 11 had
runtime 11 "$HEDDLE_HOME/tests/programs/older_texture.c"
echo 'libcudart.so.11.0 { global: *; };' >runtime.map
gcc -shared -fPIC -Wl,-soname,libcudart.so.11.0 -Wl,--version-script=runtime.map -o libcudart.so.11.0 runtime.c
gcc -o texture.linked older.o -L. -l:libcudart.so.11.0
gcc -c -o runtime.o runtime.c && gcc -o texture.inside older.o runtime.o
rm libcudart.so.11.0
for program in texture.linked texture.inside; do
    for mode in functional timing; do
        run run --mode $mode "./$program"
        expect_status 0
        expect_line out '^older_texture: ok$'
    done
done

# ... and through the driver API
gcc -o texrefs "$HEDDLE_HOME/tests/programs/texrefs.c" "$libraries/libcuda.so.1" || fail 'texrefs.c does not compile'
for mode in functional timing; do
    run run --mode $mode ./texrefs
    expect_status 0
    expect_line out '^texrefs: ok$'
done

# what CUDA 13 has otherwise than one of them, the other has too
nm -D --with-symbol-versions "$libraries/libcudart.so.13" >symbols || fail 'cannot read the symbols'
while read -r symbol; do
    for version in 11.0 12; do
        [[ $symbol.$version == cudaGraphAddNode.11.0 ]] || expect_line symbols " T $symbol@libcudart.so.$version\$"
    done
done < <(sed -n 's/.* T \(.*\)@@libcudart.so.13$/\1/p' symbols)

# older still: said, and left alone
cat >old.c <<'END'
int cudaThreadSynchronize(int *p) { return *p += 1; }
int cudaFree(int *p) { return *p += 2; }
int main(int count, char **words) { return (void)words, cudaThreadSynchronize(&count) + cudaFree(&count) != 6; }
END
gcc -o old old.c
run run ./old
expect_status 0
expect_line err '^heddle: ./old holds the runtime of CUDA 10 or older'
echo 'int f(void) { return 0; }' >f.c
echo 'int f(void); int main(void) { return f(); }' >needs.c
gcc -shared -fPIC -Wl,-soname,libcudart.so.10.2 -o libcudart.so.10.2 f.c
gcc -o needs needs.c -L. -l:libcudart.so.10.2 && rm libcudart.so.10.2
run run ./needs
expect_status 127
expect_line err 'needs libcudart.so.10.2, and Heddle takes the place of the runtimes of CUDA 11 to 13'
