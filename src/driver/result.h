/* Results of the driver's calls: CUDA's numbers, which are the same for its runtime (cudaError_t) and its
 * driver (CUresult). Only those that Heddle returns are here; which case gives which one was verified on an
 * H200. */
#ifndef DRIVER_RESULT_H
#define DRIVER_RESULT_H

/*    id, number, what CUDA says of it */
#define DRIVER_RESULTS(R)                                                                                    \
    R(SUCCESS, 0, "no error")                                                                                \
    R(INVALID_VALUE, 1, "invalid argument")                                                                  \
    R(OUT_OF_MEMORY, 2, "out of memory")                                                                     \
    R(NOT_INITIALIZED, 3, "initialization error")                                                            \
    R(DEINITIALIZED, 4, "driver shutting down")                                                              \
    R(INVALID_PITCH, 12, "invalid pitch argument")                                                           \
    R(INVALID_CHANNEL_DESCRIPTOR, 20, "invalid channel descriptor")                                          \
    R(INVALID_DEVICE_FUNCTION, 98, "invalid device function")                                                \
    R(INVALID_DEVICE, 101, "invalid device ordinal")                                                         \
    R(INVALID_IMAGE, 200, "device kernel image is invalid")                                                  \
    R(INVALID_CONTEXT, 201, "invalid device context")                                                        \
    R(MAP_FAILED, 205, "mapping of buffer object failed")                                                    \
    R(NO_BINARY_FOR_GPU, 209, "no kernel image is available for execution on the device")                    \
    R(UNSUPPORTED_LIMIT, 215, "limit is not supported on this architecture")                                 \
    R(PEER_ACCESS_UNSUPPORTED, 217, "peer access is not supported between these two devices")                \
    R(INVALID_PTX, 218, "a PTX JIT compilation failed")                                                      \
    R(FILE_NOT_FOUND, 301, "file not found")                                                                 \
    R(INVALID_HANDLE, 400, "invalid resource handle")                                                        \
    R(ILLEGAL_STATE, 401, "the operation cannot be performed in the present state")                          \
    R(NOT_FOUND, 500, "named symbol not found")                                                              \
    R(NOT_READY, 600, "device not ready")                                                                    \
    R(ILLEGAL_ADDRESS, 700, "an illegal memory access was encountered")                                      \
    R(LAUNCH_OUT_OF_RESOURCES, 701, "too many resources requested for launch")                               \
    R(LAUNCH_TIMEOUT, 702, "the launch timed out and was terminated")                                        \
    R(PEER_ACCESS_ALREADY_ENABLED, 704, "peer access is already enabled")                                    \
    R(PEER_ACCESS_NOT_ENABLED, 705, "peer access has not been enabled")                                      \
    R(ASSERT, 710, "device-side assert triggered")                                                           \
    R(HOST_MEMORY_ALREADY_REGISTERED, 712, "part or all of the requested memory range is already mapped")    \
    R(HOST_MEMORY_NOT_REGISTERED, 713, "pointer does not correspond to a registered memory region")          \
    R(ILLEGAL_INSTRUCTION, 715, "an illegal instruction was encountered")                                    \
    R(MISALIGNED_ADDRESS, 716, "misaligned address")                                                         \
    R(LAUNCH_FAILED, 719, "unspecified launch failure")                                                      \
    R(COOPERATIVE_LAUNCH_TOO_LARGE, 720, "too many blocks in cooperative launch")                            \
    R(NOT_PERMITTED, 800, "operation not permitted")                                                         \
    R(NOT_SUPPORTED, 801, "operation not supported")                                                         \
    R(STREAM_CAPTURE_UNSUPPORTED, 900, "operation not permitted when stream is capturing")                   \
    R(STREAM_CAPTURE_INVALIDATED, 901, "operation failed due to a previous error during capture")            \
    R(STREAM_CAPTURE_MERGE, 902, "operation would merge two separate capture sequences")                     \
    R(STREAM_CAPTURE_UNMATCHED, 903, "capture was not initiated in this stream")                             \
    R(STREAM_CAPTURE_UNJOINED, 904, "capturing stream has unjoined work")                                    \
    R(STREAM_CAPTURE_ISOLATION, 905, "dependency created on uncaptured work in another stream")              \
    R(STREAM_CAPTURE_IMPLICIT, 906,                                                                          \
      "operation would make the legacy stream depend on a capturing blocking stream")                        \
    R(CAPTURED_EVENT, 907, "operation not permitted on an event last recorded in a capturing stream")        \
    R(STREAM_CAPTURE_WRONG_THREAD, 908,                                                                      \
      "attempt to terminate a thread-local capture sequence from another thread")                            \
    R(INVALID_CLUSTER_SIZE, 912, "cluster misconfiguration")

enum result {
#define R(id, number, text) RESULT_##id = number,
    DRIVER_RESULTS(R)
#undef R
};

const char *result_text(int result); /* "unknown error" for other numbers */

#endif
