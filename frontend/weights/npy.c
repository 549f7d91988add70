/* Arrays from and to .npy files of their own. */
#include "frontend/weights/npy.h"

#include "base/file.h"
#include "base/messages.h"
#include "frontend/weights/npy_array.h"
#include "frontend/weights/source.h"

#include <string.h>

static const uint64_t file_limit = UINT64_C(1) << 46;

static Status check_bools(const NpyInput *input, const NpyHeader *header) {
    if (header->dtype != DT_bool) return STATUS_ok;
    const unsigned char *bytes = input->data + header->data_start;
    size_t size = (size_t)header->data_size, bad = weight_bad_bool(bytes, size);
    if (bad == size) return STATUS_ok;
    diag_error(input->diags, input->loc, MSG_WEIGHT_BOOL,
               (unsigned long long)(header->data_start + bad), input->label, bytes[bad], bad);
    return STATUS_invalid;
}

static Status decode_tensor(NpyInput *input, Str path, Tensor *out_tensor) {
    NpyHeader header;
    input->loc = (Loc){.file = diags_add_file(input->diags, path, STR(""))};
    input->label = weight_label(input->scratch, path);
    TRY(npy_decode(input, &header));
    TRY(check_bools(input, &header));
    Tensor tensor = {.dtype = header.dtype, .rank = header.rank};
    memcpy(tensor.dims, header.dims, sizeof tensor.dims);
    tensor.data = arena_alloc(input->scratch, (size_t)header.data_size);
    npy_arrange(&header, input->data + header.data_start, tensor.data);
    *out_tensor = tensor;
    return STATUS_ok;
}

Status npy_read(Arena *arena, Diags *diags, Loc loc, Str path, Tensor *out_tensor) {
    FileBytes bytes;
    TRY(file_load(diags, loc, path, file_limit, UINT64_MAX, &bytes));
    GuardDefer defer;
    guard_defer(&defer, file_release_defer, &bytes);
    NpyInput input = {.diags = diags, .scratch = arena, .data = bytes.data, .size = bytes.size};
    Status status = decode_tensor(&input, path, out_tensor);
    guard_undefer(&defer);
    file_release(bytes);
    return status;
}

/* How a dtype stands in a file: under which name, and as which of NumPy's dtypes. */
typedef struct NpyName {
    const char *descr;
    DType stored;
} NpyName;

static const NpyName names[DT_count] = {
    [DT_bool] = {"|b1", DT_bool}, [DT_i4] = {"|i1", DT_i8},   [DT_u4] = {"|u1", DT_u8},
    [DT_i8] = {"|i1", DT_i8},     [DT_u8] = {"|u1", DT_u8},   [DT_i16] = {"<i2", DT_i16},
    [DT_u16] = {"<u2", DT_u16},   [DT_i32] = {"<i4", DT_i32}, [DT_u32] = {"<u4", DT_u32},
    [DT_i64] = {"<i8", DT_i64},   [DT_u64] = {"<u8", DT_u64}, [DT_f8e4m3] = {"|u1", DT_u8},
    [DT_f8e5m2] = {"|u1", DT_u8}, [DT_f16] = {"<f2", DT_f16}, [DT_bf16] = {"<u2", DT_u16},
    [DT_f32] = {"<f4", DT_f32},   [DT_f64] = {"<f8", DT_f64},
};

static bool is_packed(DType dtype) { return dtype == DT_i4 || dtype == DT_u4; }

/* The same shape and values in another integer dtype; false when a value does not fit it. */
static bool convert_ints(Arena *arena, const Tensor *from, DType dtype, Tensor *out_tensor) {
    const DTypeInfo *info = dtype_info(dtype);
    Tensor to = *from;
    to.dtype = dtype;
    to.data = arena_alloc(arena, tensor_bytes(&to));
    int64_t count = tensor_elements(from);
    for (int64_t i = 0; i < count; i++) {
        int64_t value = tensor_get_int(from, i);
        if ((double)value < info->least || (double)value > info->most) return false;
        tensor_set_int(&to, i, value);
    }
    *out_tensor = to;
    return true;
}

bool npy_reinterpret(Arena *arena, Tensor *tensor, DType wanted) {
    if (tensor->dtype == wanted) return true;
    if (tensor->dtype != names[wanted].stored) return false;
    if (is_packed(wanted)) return convert_ints(arena, tensor, wanted, tensor);
    tensor->dtype = wanted;
    return true;
}

/* The whole header is a multiple of 64 bytes and ends in a newline, so that mapped data is aligned.
 */
static void put_header(Buf *buf, const Tensor *tensor) {
    Buf text = {.arena = buf->arena};
    buf_print(&text, "{'descr': '%s', 'fortran_order': False, 'shape': (",
              names[tensor->dtype].descr);
    for (uint32_t i = 0; i < tensor->rank; i++) {
        buf_print(&text, "%s%lld", i ? ", " : "", (long long)tensor->dims[i]);
    }
    buf_put(&text, tensor->rank == 1 ? STR(",), }") : STR("), }"));
    while ((text.size + 11) % 64) buf_char(&text, ' ');
    buf_char(&text, '\n');
    buf_bytes(buf, "\x93NUMPY\x01\x00", 8);
    buf_char(buf, (char)(text.size & 0xff));
    buf_char(buf, (char)(text.size >> 8));
    buf_put(buf, buf_str(&text));
}

void npy_encode(Buf *buf, const Tensor *tensor) {
    Tensor stored = *tensor;
    if (is_packed(tensor->dtype)) {
        convert_ints(buf->arena, tensor, names[tensor->dtype].stored, &stored);
    }
    put_header(buf, tensor);
    buf_bytes(buf, stored.data, tensor_bytes(&stored));
}

Status npy_write(Arena *arena, Diags *diags, Loc loc, Str path, const Tensor *tensor) {
    AtomicFile file;
    Buf buf = {.arena = arena};
    npy_encode(&buf, tensor);
    TRY(atomic_file_begin(&file, arena, diags, loc, path, 0666));
    atomic_file_write(&file, buf.data, buf.size);
    return atomic_file_commit(&file, diags, loc);
}
