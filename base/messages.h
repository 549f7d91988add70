/* Every message a user can see, as `id, format` pairs for diag_error and its kin (diag.h): grouped
 * by the part that says it. Lower case, one line, no full stop, no internal names, always the
 * reason. "could not" may work later, "cannot" never will. */
#ifndef TCC_BASE_MESSAGES_H
#define TCC_BASE_MESSAGES_H

/* diagnostics themselves */
#define MSG_MORE_ERRORS "more-errors", "the limit of errors is reached; %zu more were not shown"

/* files */
#define MSG_CANNOT_READ "cannot-read", "could not read %s: %s"
#define MSG_NOT_A_FILE "not-a-file", "%s is not a regular file"
#define MSG_TOO_LARGE "too-large", "%s has %llu bytes, more than the limit of %llu"
#define MSG_BAD_PATH "bad-path", "\"%.*s\" cannot be the name of a file"
#define MSG_FILE_SHRANK "file-shrank", "could not read %s: it became shorter while it was read"
#define MSG_CANNOT_WRITE "cannot-write", "could not write %s: %s"

/* type inference: what is wrong with the operands and attributes of an op */
#define MSG_SHAPES_DISAGREE "shape-mismatch", "shapes %s and %s do not agree"
#define MSG_DTYPES_DISAGREE "dtype-mismatch", "dtypes %s and %s do not agree"
#define MSG_DIMS_DISAGREE "dim-mismatch", "dims %s and %s of %s and %s do not agree"
#define MSG_DTYPE_REFUSED "dtype-refused", "%s does not take values of %s"
#define MSG_DTYPE_RESULT "dtype-result", "%s of %s cannot give %s; cast the operand"
#define MSG_DTYPE_CONDITION "dtype-condition", "the condition of %s is %s, not bool"
#define MSG_DTYPE_INDEX "dtype-index", "indices are i32 or i64, not %s"
#define MSG_DTYPE_KEY "dtype-key", "the key of random is a u64 scalar, not %s"
#define MSG_NOT_SCALAR "not-scalar", "%s of %s must be a scalar, not %s"
#define MSG_NOT_TENSOR "not-tensor", "operand %u of %s has several results, %s; pick one"
#define MSG_NOT_TUPLE "not-tuple", "%s has one result, there is none to pick from it"
#define MSG_NO_ITEM "no-item", "there is no result %lld of %s"
#define MSG_OPERAND_COUNT "operand-count", "%s takes %d operands, not %u"
#define MSG_OPERANDS_MISSING "operands-missing", "%s needs at least %u operands, not %u"
#define MSG_ATTR_COUNT "attribute-count", "%s of %s lists %u numbers, not the %u that %s needs"
#define MSG_ATTR_LEAST "attribute-least", "%s of %s is %lld, it must be at least %d"
#define MSG_ATTR_FLAG "attribute-flag", "%s of %s is %lld, it must be 0 or 1"
#define MSG_AXIS_RANGE "axis-range", "axis %lld is out of range for %s"
#define MSG_AXIS_REPEATED "axis-repeated", "axis %lld stands twice"
#define MSG_AXES_ORDER "axes-order", "axes of broadcast must increase"
#define MSG_PERMUTATION "permutation", "%s is not a permutation of the axes of %s"
#define MSG_RANK "rank-limit", "the result would have %u axes; the limit is %d"
#define MSG_RANK_LEAST "rank-least", "%s needs at least %u axes, %s has too few"
#define MSG_RANK_EQUAL "rank-mismatch", "ranks of %s and %s do not agree"
#define MSG_ELEMENT_COUNT "element-count", "%s cannot be reshaped to [%s]: the numbers of elements differ"
#define MSG_BROADCAST "broadcast", "dim %s of %s does not broadcast to %s"
#define MSG_DIM_NEGATIVE "dim-negative", "%s of %s is negative"
#define MSG_DIM_OVERFLOW "dim-overflow", "the sizes of the result of %s overflow"
#define MSG_DIM_UNKNOWN "dim-unknown", "dims %s and %s are known only at run time and cannot be compared"
#define MSG_SLICE_BOUNDS "slice-bounds", "slice %s:%s is out of bounds for axis %u of %s"
#define MSG_TOPK "topk-count", "topk of %lld elements is more than axis %lld of %s has"
#define MSG_BATCH "batch-axes", "%lld batch axes are not possible with axis %lld of %s and indices %s"
#define MSG_LABEL_RANGE "label-range", "label %lld is not between 0 and %d"
#define MSG_LABEL_REPEATED "label-repeated", "label %lld stands twice in %s of contract"
#define MSG_LABEL_UNKNOWN "label-unknown", "label %lld of the result is in no operand"
#define MSG_LABEL_DANGLING "label-dangling", "label %lld is summed, but only in one operand"
#define MSG_CONV_RANK "conv-rank", "conv takes 1 to 3 spatial axes, %s has %d"
#define MSG_CONV_CHANNELS "conv-channels", "%s channels of %s are not %lld groups of the %s of %s"
#define MSG_CONV_GROUPS "conv-groups", "%s output channels of %s are not divisible by %lld groups"
#define MSG_REGION_COUNT "region-count", "%s has %u blocks, not %u"
#define MSG_REGION_INPUTS "block-inputs", "a block of %s takes %zu values, not %u"
#define MSG_REGION_INPUT "block-input", "value %u of a block of %s is %s, not %s"
#define MSG_REGION_OUTPUTS "block-results", "a block of %s gives %zu values, not %zu"
#define MSG_REGION_OUTPUT "block-result", "result %u of a block of %s is %s, not %s"
#define MSG_NO_RESULTS "no-results", "a block of %s gives nothing"
#define MSG_CARRIED "carried-count", "scan carries %lld of %u values; at least one must be a sequence"
#define MSG_NOTE_OPERAND "operand", "operand %u is %s"
#define MSG_NOTE_CALLER "called-from", "called from here"
#define MSG_NOTE_LIBRARY "inside-library", "inside the library function, here"

#endif
