#!/usr/bin/env bash
# Kernels made at run time, by NVIDIA's own NVRTC and nvJitLink.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
needs nvcc
toolkit=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")/lib64
if [[ ! -e $toolkit/libnvrtc.so || ! -e $toolkit/libnvJitLink.so ]]; then
    skip 'the rest of the script: no libnvrtc and libnvJitLink here'
    exit 0
fi
nvcc -cudart shared -o jit "$HEDDLE_HOME/tests/programs/jit.cu" -lcuda -lnvrtc -lnvJitLink -Xlinker "-rpath=$toolkit" ||
    fail 'jit.cu does not compile'
run run ./jit
expect_status 0
expect_line out '^jit: ok$'
expect_lines err 2
expect_line err '^heddle: the image given to CUDA is machine code, which Heddle does not run; give it the PTX of the module \(nvcc -ptx, nvrtcGetPTX\)$'
