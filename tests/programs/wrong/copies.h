/* Copies and fills: directions, sizes, pitches, arrays, symbols. */
#pragma once
#include "kit.h"

static int on_host[1024];

USE(copy_to_device_from_device)
{
    char *p = new_memory();
    return cudaMemcpy(p, p + 1024, 16, cudaMemcpyHostToDevice);
}
USE(copy_to_host_as_device)
{
    return cudaMemcpy(on_host, new_memory(), 16, cudaMemcpyHostToDevice);
}
USE(copy_from_host_as_device)
{
    return cudaMemcpy(new_memory(), on_host, 16, cudaMemcpyDeviceToHost);
}
USE(copy_device_to_device_of_host)
{
    return cudaMemcpy(new_memory(), on_host, 16, cudaMemcpyDeviceToDevice);
}
USE(copy_host_to_host_of_device)
{
    return cudaMemcpy(on_host, new_memory(), 16, cudaMemcpyHostToHost);
}
USE(copy_unknown_kind)
{
    return cudaMemcpy(new_memory(), on_host, 16, (cudaMemcpyKind)9);
}
USE(copy_negative_kind)
{
    return cudaMemcpy(new_memory(), on_host, 16, (cudaMemcpyKind)-1);
}
USE(copy_unknown_kind_zero)
{
    return cudaMemcpy(new_memory(), on_host, 0, (cudaMemcpyKind)9);
}
USE(copy_past_end)
{
    return cudaMemcpy(new_memory(1 << 21) + (1 << 21) - 8, on_host, 16, cudaMemcpyHostToDevice);
}
USE(copy_from_past_end)
{
    return cudaMemcpy(on_host, new_memory(1 << 21) + (1 << 21) - 8, 16, cudaMemcpyDeviceToHost);
}
USE(copy_to_null)
{
    return cudaMemcpy(0, on_host, 16, cudaMemcpyHostToDevice);
}
USE(copy_from_null)
{
    return cudaMemcpy(on_host, 0, 16, cudaMemcpyDeviceToHost);
}
USE(copy_null_zero)
{
    return cudaMemcpy(0, 0, 0, cudaMemcpyHostToDevice);
}
USE(copy_default_null)
{
    return cudaMemcpy(0, on_host, 16, cudaMemcpyDefault);
}
USE(copy_to_freed)
{
    char *p = new_memory(1 << 21);
    NEED(cudaFree(p));
    return cudaMemcpy(p, on_host, 16, cudaMemcpyHostToDevice);
}
USE(copy_async_bad_stream)
{
    return cudaMemcpyAsync(new_memory(), on_host, 16, cudaMemcpyHostToDevice, FAKE(cudaStream_t));
}
USE(copy_async_unknown_kind)
{
    return cudaMemcpyAsync(new_memory(), on_host, 16, (cudaMemcpyKind)9, 0);
}
USE(copy_async_wrong_kind)
{
    return cudaMemcpyAsync(new_memory(), on_host, 16, cudaMemcpyDeviceToHost, 0);
}
USE(copy_async_past_end)
{
    return cudaMemcpyAsync(new_memory(1 << 21) + (1 << 21) - 8, on_host, 16, cudaMemcpyHostToDevice, 0);
}
USE(copy_2d_width_beyond_to_pitch)
{
    return cudaMemcpy2D(new_memory(), 8, on_host, 16, 16, 1, cudaMemcpyHostToDevice);
}
USE(copy_2d_width_beyond_from_pitch)
{
    return cudaMemcpy2D(new_memory(), 16, on_host, 8, 16, 1, cudaMemcpyHostToDevice);
}
USE(copy_2d_zero)
{
    return cudaMemcpy2D(new_memory(), 16, on_host, 16, 0, 1, cudaMemcpyHostToDevice);
}
USE(copy_2d_zero_pitch)
{
    return cudaMemcpy2D(new_memory(), 0, on_host, 0, 16, 1, cudaMemcpyHostToDevice);
}
USE(copy_2d_huge_pitch)
{
    return cudaMemcpy2D(new_memory(), (size_t)1 << 33, on_host, 16, 16, 1, cudaMemcpyHostToDevice);
}
USE(copy_2d_unknown_kind)
{
    return cudaMemcpy2D(new_memory(), 16, on_host, 16, 16, 1, (cudaMemcpyKind)9);
}
USE(copy_2d_past_end)
{
    return cudaMemcpy2D(new_memory(1 << 21), 1 << 20, on_host, 16, 16, 3, cudaMemcpyHostToDevice);
}
USE(copy_2d_null)
{
    return cudaMemcpy2D(0, 16, on_host, 16, 16, 1, cudaMemcpyHostToDevice);
}
USE(copy_to_array_null)
{
    return cudaMemcpy2DToArray(0, 0, 0, on_host, 16, 16, 1, cudaMemcpyHostToDevice);
}
USE(copy_to_array_beyond_width)
{
    return cudaMemcpy2DToArray(new_array(), 120, 0, on_host, 16, 16, 1, cudaMemcpyHostToDevice);
}
USE(copy_to_array_beyond_height)
{
    return cudaMemcpy2DToArray(new_array(), 0, 31, on_host, 16, 16, 2, cudaMemcpyHostToDevice);
}
USE(copy_to_array_part_of_element)
{
    return cudaMemcpy2DToArray(new_array(), 0, 0, on_host, 16, 3, 1, cudaMemcpyHostToDevice);
}
USE(copy_to_array_offset_in_element)
{
    return cudaMemcpy2DToArray(new_array(), 2, 0, on_host, 16, 4, 1, cudaMemcpyHostToDevice);
}
USE(copy_from_array_null)
{
    return cudaMemcpy2DFromArray(on_host, 16, 0, 0, 0, 16, 1, cudaMemcpyDeviceToHost);
}
USE(copy_array_wrong_kind)
{
    return cudaMemcpy2DToArray(new_array(), 0, 0, on_host, 16, 16, 1, cudaMemcpyDeviceToHost);
}
USE(copy_array_to_array_other_size)
{
    return cudaMemcpy2DArrayToArray(new_array(), 0, 0, new_array(8, 8), 0, 0, 64, 1,
                                    cudaMemcpyDeviceToDevice);
}
USE(copy_3d_null)
{
    return cudaMemcpy3D(0);
}
USE(copy_3d_nothing)
{
    cudaMemcpy3DParms what = {};
    return cudaMemcpy3D(&what);
}
USE(copy_3d_no_source)
{
    cudaMemcpy3DParms what = {};
    what.dstPtr = make_cudaPitchedPtr(new_memory(), 64, 64, 16);
    what.extent = make_cudaExtent(16, 1, 1);
    what.kind = cudaMemcpyHostToDevice;
    return cudaMemcpy3D(&what);
}
USE(copy_3d_two_sources)
{
    cudaMemcpy3DParms what = {};
    what.dstPtr = make_cudaPitchedPtr(new_memory(), 64, 64, 16);
    what.srcPtr = make_cudaPitchedPtr(on_host, 64, 64, 16);
    what.srcArray = new_array();
    what.extent = make_cudaExtent(16, 1, 1);
    what.kind = cudaMemcpyDefault;
    return cudaMemcpy3D(&what);
}
USE(copy_3d_width_beyond_pitch)
{
    cudaMemcpy3DParms what = {};
    what.dstPtr = make_cudaPitchedPtr(new_memory(), 8, 8, 16);
    what.srcPtr = make_cudaPitchedPtr(on_host, 64, 64, 16);
    what.extent = make_cudaExtent(16, 2, 1);
    what.kind = cudaMemcpyHostToDevice;
    return cudaMemcpy3D(&what);
}
USE(copy_3d_unknown_kind)
{
    cudaMemcpy3DParms what = {};
    what.dstPtr = make_cudaPitchedPtr(new_memory(), 64, 64, 16);
    what.srcPtr = make_cudaPitchedPtr(on_host, 64, 64, 16);
    what.extent = make_cudaExtent(16, 1, 1);
    what.kind = (cudaMemcpyKind)9;
    return cudaMemcpy3D(&what);
}
USE(copy_3d_height_beyond_array)
{
    cudaMemcpy3DParms what = {};
    what.dstArray = new_array();
    what.srcPtr = make_cudaPitchedPtr(on_host, 64, 64, 16);
    what.extent = make_cudaExtent(4, 40, 1);
    what.kind = cudaMemcpyHostToDevice;
    return cudaMemcpy3D(&what);
}
USE(copy_3d_peer_null)
{
    return cudaMemcpy3DPeer(0);
}
USE(copy_to_symbol_past_end)
{
    return cudaMemcpyToSymbol(constant_table, on_host, 16, 60);
}
USE(copy_to_symbol_of_host)
{
    return cudaMemcpyToSymbol((const void *)fake_object, on_host, 16);
}
USE(copy_to_symbol_null)
{
    return cudaMemcpyToSymbol((const void *)0, on_host, 16);
}
USE(copy_to_symbol_wrong_kind)
{
    return cudaMemcpyToSymbol(device_table, on_host, 16, 0, cudaMemcpyDeviceToHost);
}
USE(copy_to_symbol_unknown_kind)
{
    return cudaMemcpyToSymbol(device_table, on_host, 16, 0, (cudaMemcpyKind)9);
}
USE(copy_from_symbol_past_end)
{
    return cudaMemcpyFromSymbol(on_host, device_table, 128);
}
USE(copy_from_symbol_wrong_kind)
{
    return cudaMemcpyFromSymbol(on_host, device_table, 16, 0, cudaMemcpyHostToDevice);
}
USE(copy_from_symbol_to_null)
{
    return cudaMemcpyFromSymbol(0, device_table, 16);
}
USE(copy_batch_no_attributes)
{
    void *to[] = {new_memory()};
    const void *from[] = {new_memory()};
    size_t sizes[] = {16};
    return cudaMemcpyBatchAsync(to, from, sizes, 1, 0, 0, 0, new_stream());
}
USE(copy_batch_default_stream)
{
    void *to[] = {new_memory()};
    const void *from[] = {new_memory()};
    size_t sizes[] = {16}, first = 0;
    cudaMemcpyAttributes attributes = {};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    return cudaMemcpyBatchAsync(to, from, sizes, 1, &attributes, &first, 1, 0);
}
USE(copy_batch_none)
{
    return cudaMemcpyBatchAsync(0, 0, 0, 0, 0, 0, 0, new_stream());
}
USE(fill_null)
{
    return cudaMemset(0, 0, 4);
}
USE(fill_null_zero)
{
    return cudaMemset(0, 0, 0);
}
USE(fill_past_end)
{
    return cudaMemset(new_memory(1 << 21) + (1 << 21) - 8, 0, 16);
}
USE(fill_host)
{
    return cudaMemset(on_host, 0, 16);
}
USE(fill_async_bad_stream)
{
    return cudaMemsetAsync(new_memory(), 0, 16, FAKE(cudaStream_t));
}
USE(fill_2d_width_beyond_pitch)
{
    return cudaMemset2D(new_memory(), 8, 0, 16, 2);
}
USE(fill_2d_one_row_beyond_pitch)
{
    return cudaMemset2D(new_memory(), 8, 0, 16, 1);
}
USE(fill_2d_zero)
{
    return cudaMemset2D(new_memory(), 8, 0, 0, 2);
}
USE(fill_3d_zero)
{
    return cudaMemset3D(make_cudaPitchedPtr(new_memory(), 64, 64, 16), 0, make_cudaExtent(0, 1, 1));
}
USE(fill_3d_width_beyond_pitch)
{
    return cudaMemset3D(make_cudaPitchedPtr(new_memory(), 8, 8, 16), 0, make_cudaExtent(16, 2, 1));
}
