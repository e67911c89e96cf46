/* Buffers, sub-buffers, rectangles, fills, maps, images. */
#include "start.h"

enum { COUNT = 4096, BYTES = COUNT * (int)sizeof(int) };

static int data[COUNT], back[COUNT];

static cl_mem buffer_of(cl_mem_flags flags, size_t bytes, void *host)
{
    cl_mem buffer = clCreateBuffer(context, flags, bytes, host, &error);
    GOOD(error);
    return buffer;
}

static void read_and_write(void)
{
    cl_mem a = buffer_of(CL_MEM_READ_WRITE, BYTES, NULL);
    cl_mem b = buffer_of(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, BYTES, data);
    GOOD(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, BYTES, back, 0, NULL, NULL));
    CHECK(!memcmp(data, back, BYTES));
    memset(back, 0, sizeof back);
    GOOD(clEnqueueCopyBuffer(queue, b, a, 0, 0, BYTES, 0, NULL, NULL));
    int seven = 7;
    GOOD(clEnqueueWriteBuffer(queue, a, CL_FALSE, 40, sizeof seven, &seven, 0, NULL, NULL));
    GOOD(clEnqueueReadBuffer(queue, a, CL_FALSE, 0, BYTES, back, 0, NULL, NULL));
    GOOD(clFinish(queue));
    CHECK(back[10] == 7 && back[9] == data[9] && back[COUNT - 1] == data[COUNT - 1]);
    GIVES(CL_INVALID_VALUE, clEnqueueReadBuffer(queue, a, CL_TRUE, 4, BYTES, back, 0, NULL, NULL));
    GIVES(CL_INVALID_VALUE, clEnqueueReadBuffer(queue, a, CL_TRUE, 0, BYTES, NULL, 0, NULL, NULL));
    GIVES(CL_INVALID_MEM_OBJECT, clEnqueueReadBuffer(queue, NULL, CL_TRUE, 0, 4, back, 0, NULL, NULL));
    GIVES(CL_INVALID_COMMAND_QUEUE, clEnqueueReadBuffer(NULL, a, CL_TRUE, 0, 4, back, 0, NULL, NULL));
    GIVES(CL_MEM_COPY_OVERLAP, clEnqueueCopyBuffer(queue, a, a, 0, 4, 8, 0, NULL, NULL));
    GOOD(clReleaseMemObject(a));
    GOOD(clReleaseMemObject(b));
}

static void what_cannot_be_made(void)
{
    clCreateBuffer(context, CL_MEM_READ_WRITE, 0, NULL, &error);
    GIVES(CL_INVALID_BUFFER_SIZE, error);
    clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_READ_ONLY, 4, NULL, &error);
    GIVES(CL_INVALID_VALUE, error);
    clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, 4, NULL, &error);
    GIVES(CL_INVALID_HOST_PTR, error);
    clCreateBuffer(NULL, CL_MEM_READ_WRITE, 4, NULL, &error);
    GIVES(CL_INVALID_CONTEXT, error);
}

static void sub_buffers(void)
{
    cl_mem whole = buffer_of(CL_MEM_COPY_HOST_PTR, BYTES, data);
    cl_buffer_region region = {2048, 1024};
    cl_mem part = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    GOOD(error);
    int value = 99, got = 0;
    GOOD(clEnqueueReadBuffer(queue, part, CL_TRUE, 8, sizeof got, &got, 0, NULL, NULL));
    CHECK(got == data[514]);
    GOOD(clEnqueueWriteBuffer(queue, part, CL_TRUE, 8, sizeof value, &value, 0, NULL, NULL));
    GOOD(clReleaseMemObject(whole)); /* the part keeps it */
    GOOD(clEnqueueReadBuffer(queue, part, CL_TRUE, 0, 1024, back, 0, NULL, NULL));
    CHECK(back[2] == 99 && back[3] == data[515]);
    cl_mem parent;
    GOOD(clGetMemObjectInfo(part, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, NULL));
    CHECK(parent == whole);
    GOOD(clReleaseMemObject(part));
}

static void rectangles(void)
{
    cl_mem a = buffer_of(CL_MEM_COPY_HOST_PTR, BYTES, data), b = buffer_of(0, BYTES, NULL);
    size_t from[3] = {16, 2, 1}, to[3] = {0, 0, 0}, region[3] = {32, 4, 2};
    memset(back, 0, sizeof back);
    GOOD(clEnqueueReadBufferRect(queue, a, CL_TRUE, from, to, region, 256, 4096, 32, 128, back, 0, NULL,
                                 NULL));
    for (int z = 0; z < 2; z++) {
        for (int y = 0; y < 4; y++)
            CHECK(!memcmp(back + z * 32 + y * 8, data + (z + 1) * 1024 + (y + 2) * 64 + 4, 32));
    }
    int zero = 0;
    GOOD(clEnqueueFillBuffer(queue, b, &zero, sizeof zero, 0, BYTES, 0, NULL, NULL));
    GOOD(clEnqueueCopyBufferRect(queue, a, b, from, to, region, 256, 4096, 64, 512, 0, NULL, NULL));
    GOOD(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, BYTES, back, 0, NULL, NULL));
    CHECK(back[128 + 16] == data[1024 * 2 + 64 * 3 + 4] && back[8] == 0);
    GIVES(CL_INVALID_VALUE,
          clEnqueueReadBufferRect(queue, a, CL_TRUE, from, to, region, 8, 0, 0, 0, back, 0, NULL, NULL));
    GOOD(clReleaseMemObject(a));
    GOOD(clReleaseMemObject(b));
}

static void fills(void)
{
    cl_mem a = buffer_of(0, BYTES, NULL);
    char pattern[16] = "abcdefghijklmno";
    short two = 0x1234;
    GOOD(clEnqueueFillBuffer(queue, a, pattern, 16, 32, 1008, 0, NULL, NULL));
    GOOD(clEnqueueFillBuffer(queue, a, &two, 2, 1040, 6, 0, NULL, NULL));
    GOOD(clEnqueueReadBuffer(queue, a, CL_TRUE, 0, BYTES, back, 0, NULL, NULL));
    for (int i = 0; i < 63; i++)
        CHECK(!memcmp((char *)back + 32 + 16 * i, pattern, 16));
    CHECK(!memcmp((char *)back + 1040, "\x34\x12\x34\x12\x34\x12", 6));
    GIVES(CL_INVALID_VALUE, clEnqueueFillBuffer(queue, a, pattern, 3, 0, 9, 0, NULL, NULL));
    GOOD(clReleaseMemObject(a));
}

static void maps(cl_mem_flags flags, void *host)
{
    cl_mem a = buffer_of(flags, BYTES, host);
    int *seen = clEnqueueMapBuffer(queue, a, CL_TRUE, CL_MAP_WRITE, 64, 256, 0, NULL, NULL, &error);
    GOOD(error);
    if (flags & CL_MEM_USE_HOST_PTR)
        CHECK((char *)seen == (char *)host + 64);
    for (int i = 0; i < 64; i++)
        seen[i] = 1000 + i;
    cl_uint count;
    GOOD(clGetMemObjectInfo(a, CL_MEM_MAP_COUNT, sizeof count, &count, NULL));
    CHECK(count == 1);
    GOOD(clEnqueueUnmapMemObject(queue, a, seen, 0, NULL, NULL));
    GOOD(clEnqueueReadBuffer(queue, a, CL_TRUE, 64, 256, back, 0, NULL, NULL));
    CHECK(back[0] == 1000 && back[63] == 1063);
    seen = clEnqueueMapBuffer(queue, a, CL_FALSE, CL_MAP_READ, 0, BYTES, 0, NULL, NULL, &error);
    GOOD(error);
    GOOD(clFinish(queue));
    CHECK(seen[16] == 1000);
    GOOD(clEnqueueUnmapMemObject(queue, a, seen, 0, NULL, NULL));
    GIVES(CL_INVALID_VALUE, clEnqueueUnmapMemObject(queue, a, data, 0, NULL, NULL));
    GOOD(clFinish(queue));
    GOOD(clReleaseMemObject(a));
}

static void images(void)
{
    cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 20, .image_height = 10};
    cl_mem a = clCreateImage(context, CL_MEM_COPY_HOST_PTR, &format, &desc, data, &error);
    GOOD(error);
    cl_mem b = clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, &error);
    GOOD(error);
    size_t zero[3] = {0, 0, 0}, all[3] = {20, 10, 1}, at[3] = {5, 2, 0}, some[3] = {4, 3, 1};
    memset(back, 0, sizeof back);
    GOOD(clEnqueueReadImage(queue, a, CL_TRUE, zero, all, 0, 0, back, 0, NULL, NULL));
    CHECK(!memcmp(back, data, 800));
    cl_uint colour[4] = {1, 2, 3, 300};
    GOOD(clEnqueueFillImage(queue, b, colour, zero, all, 0, NULL, NULL));
    GOOD(clEnqueueCopyImage(queue, a, b, zero, at, some, 0, NULL, NULL));
    GOOD(clEnqueueReadImage(queue, b, CL_TRUE, zero, all, 0, 0, back, 0, NULL, NULL));
    CHECK((unsigned)back[0] == 0xff030201u);
    CHECK(!memcmp(back + 2 * 20 + 5, data, 16) && !memcmp(back + 3 * 20 + 5, data + 20, 16));
    cl_mem buffer = buffer_of(0, BYTES, NULL);
    GOOD(clEnqueueCopyImageToBuffer(queue, a, buffer, at, some, 4, 0, NULL, NULL));
    GOOD(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 4, 48, back, 0, NULL, NULL));
    CHECK(!memcmp(back, data + 2 * 20 + 5, 16) && !memcmp(back + 4, data + 3 * 20 + 5, 16));
    size_t pitch, width;
    int *seen =
        clEnqueueMapImage(queue, a, CL_TRUE, CL_MAP_READ, at, some, &pitch, NULL, 0, NULL, NULL, &error);
    GOOD(error);
    CHECK(seen[0] == data[45] && *(int *)((char *)seen + pitch) == data[65]);
    GOOD(clEnqueueUnmapMemObject(queue, a, seen, 0, NULL, NULL));
    GOOD(clGetImageInfo(a, CL_IMAGE_WIDTH, sizeof width, &width, NULL));
    CHECK(width == 20);
    GIVES(CL_INVALID_VALUE, clEnqueueReadImage(queue, a, CL_TRUE, at, all, 0, 0, back, 0, NULL, NULL));
    GOOD(clFinish(queue));
    GOOD(clReleaseMemObject(a));
    GOOD(clReleaseMemObject(b));
    GOOD(clReleaseMemObject(buffer));
}

static void CL_CALLBACK note_end(cl_mem mem, void *user)
{
    (void)mem;
    ++*(int *)user;
}

static void destructors(void)
{
    int ended = 0;
    cl_mem a = buffer_of(0, BYTES, NULL);
    GOOD(clSetMemObjectDestructorCallback(a, note_end, &ended));
    GOOD(clRetainMemObject(a));
    GOOD(clReleaseMemObject(a));
    CHECK(!ended);
    GOOD(clReleaseMemObject(a));
    CHECK(ended == 1);
}

int main(void)
{
    static int host[COUNT];
    start();
    for (int i = 0; i < COUNT; i++)
        data[i] = 3 * i + 1;
    read_and_write();
    what_cannot_be_made();
    sub_buffers();
    rectangles();
    fills();
    maps(CL_MEM_READ_WRITE, NULL);
    maps(CL_MEM_ALLOC_HOST_PTR, NULL);
    maps(CL_MEM_USE_HOST_PTR, host);
    images();
    destructors();
    return end("memory");
}
