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
#define MSG_ELEMENT_COUNT                                                                          \
    "element-count", "%s cannot be reshaped to [%s]: the numbers of elements differ"
#define MSG_BROADCAST "broadcast", "dim %s of %s does not broadcast to %s"
#define MSG_DIM_NEGATIVE "dim-negative", "%s of %s is negative"
#define MSG_DIM_OVERFLOW "dim-overflow", "the sizes of the result of %s overflow"
#define MSG_DIM_UNKNOWN                                                                            \
    "dim-unknown", "dims %s and %s are known only at run time and cannot be compared"
#define MSG_SLICE_BOUNDS "slice-bounds", "slice %s:%s is out of bounds for axis %u of %s"
#define MSG_TOPK "topk-count", "topk of %lld elements is more than axis %lld of %s has"
#define MSG_BATCH                                                                                  \
    "batch-axes", "%lld batch axes are not possible with axis %lld of %s and indices %s"
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
#define MSG_CARRIED                                                                                \
    "carried-count", "scan carries %lld of %u values; at least one must be a sequence"
#define MSG_NOTE_OPERAND "operand", "operand %u is %s"
#define MSG_NOTE_CALLER "called-from", "called from here"
#define MSG_NOTE_LIBRARY "inside-library", "inside the library function, here"

/* the language: text and syntax */
#define MSG_FILE_SIZE "file-size", "the file has %zu bytes, more than the limit of %d"
#define MSG_NOT_UTF8 "not-utf8", "byte 0x%02x does not belong to UTF-8 text"
#define MSG_CONTROL_CHARACTER "control-character", "control character 0x%02x in the text"
#define MSG_STRAY_CHARACTER "stray-character", "character '%.*s' has no meaning here"
#define MSG_OPEN_STRING "open-string", "the string does not end on its line"
#define MSG_INT_LITERAL "int-literal", "the number is larger than 9223372036854775807"
#define MSG_FLOAT_LITERAL "float-literal", "the number is larger than any 64-bit float"
#define MSG_BAD_NUMBER                                                                             \
    "bad-number",                                                                                  \
        "'%.*s' is no number; numbers have decimal digits, floats on both sides of the point"
#define MSG_UNCLOSED_BRACKET "unclosed-bracket", "'%c' is never closed by '%c'"
#define MSG_STRAY_BRACKET "stray-bracket", "'%c' closes nothing"
#define MSG_SYNTAX "syntax", "unexpected %s"
#define MSG_SYNTAX_EXPECTED "syntax", "expected %s before %s"
#define MSG_NOTE_KEYWORD "keyword", "'%.*s' is a word of the language and cannot be a name"
#define MSG_HINT "hint", "%s"
#define MSG_HINT_FUNCTION "hint", "functions stand alone: write %.*s(...)"
#define MSG_HINT_MODULE "hint", "functions belong to no module: write %.*s(...)"
#define MSG_HINT_METHOD "hint", "values have no methods: write %.*s(%.*s, ...)"
#define MSG_TOO_DEEP "too-deep", "expressions and blocks are nested more than %d levels deep"
#define MSG_TOO_MANY_NODES "too-many-nodes", "the file is larger than %d syntax nodes"
#define MSG_UNKNOWN_ANNOTATION "unknown-annotation", "there is no annotation '%.*s'"
#define MSG_ANNOTATION_ARGUMENTS                                                                   \
    "annotation-arguments", "annotation '%s' takes %u arguments, not %u"

/* the language: names and values */
#define MSG_UNKNOWN_NAME "unknown-name", "there is no '%.*s'"
#define MSG_NOTE_MEANT "meant", "'%.*s' may be meant"
#define MSG_NOTE_DECLARED "declared-here", "declared here"
#define MSG_NOTE_IS "operand", "this is %s"
#define MSG_NOTE_CAST "hint", "a cast such as %s(x) converts one to the other"
#define MSG_INSIDE_LIBRARY "inside-library", "inside the library function '%.*s'"
#define MSG_DUPLICATE_NAME "duplicate-name", "'%.*s' is already declared"
#define MSG_DUPLICATE_PARAMETER "duplicate-parameter", "'%.*s' is listed twice"
#define MSG_NOT_A_VALUE "not-a-value", "'%.*s' is no value; only a call of it is"
#define MSG_NOT_A_FUNCTION "not-a-function", "'%.*s' is not a function"
#define MSG_NOT_CALLABLE "not-a-function", "only a name or a dtype can be called"
#define MSG_NEEDS_TENSOR "needs-tensor", "a tensor or a number is needed here, not %s"
#define MSG_NEEDS_TENSOR_FOR "needs-tensor", "%s needs a tensor, not %s"
#define MSG_NEEDS_INT "needs-int", "%s is a whole number known at compile time, not %s"
#define MSG_NEEDS_BOOL "needs-bool", "'%s' takes bool, not %s"
#define MSG_NEEDS_DTYPE "needs-dtype", "a dtype is needed here, not %s"
#define MSG_NEEDS_DIM "needs-dim", "a dim is a whole number or made of declared dims, not %s"
#define MSG_OPERATOR "operator", "'%s' does not work on %s and %s"
#define MSG_OPERATOR_UNARY "operator", "'%s' does not work on %s"
#define MSG_UNKNOWN_MEMBER "unknown-member", "a tensor has .T, .shape and .dtype, but no '.%.*s'"
#define MSG_LITERAL_RANGE "literal-range", "%s does not fit %s"
#define MSG_DIVISION_BY_ZERO "division-by-zero", "division by zero"
#define MSG_TRUNCATED "truncated", "of whole numbers %lld / %lld is %lld"
#define MSG_NOTE_TRUNCATED "hint", "%lld.0 / %lld is a float; // says that a whole number is meant"
#define MSG_NEGATIVE_EXPONENT                                                                      \
    "negative-exponent", "a whole number to a negative power; write it with a point"
#define MSG_INT_OVERFLOW "int-overflow", "the result does not fit 64 bits"
#define MSG_MATMUL_SHAPES "matmul-shape", "the summed axes of %s @ %s do not agree"
#define MSG_BROADCAST_RANK "broadcast", "%s cannot be broadcast to %u axes"
#define MSG_CONDITION "condition", "a condition is true or false, not %s"
#define MSG_RUNTIME_CONDITION                                                                      \
    "not-lowered",                                                                                 \
        "an 'if' on what is only known at run time is not supported yet; use 'a if c else b'"
#define MSG_NOT_LOWERED "not-lowered", "%s is not supported yet"
#define MSG_MINIMIZE "minimize", "'minimize' belongs into a 'train' block"
#define MSG_INTERPOLATION                                                                          \
    "interpolation", "'%.*s' in a string must be a whole number or a string, not %s"
#define MSG_INTERPOLATION_OPEN "interpolation", "'{' in a string is not closed by '}'"
#define MSG_TARGET_COUNT "target-count", "the numbers of values and names differ: %u and %u"
#define MSG_RETURN_IN_MODEL "return-in-model", "a model returns nothing; it assigns its outputs"
#define MSG_ASSERT_FAILED "assert-failed", "the assertion does not hold"
#define MSG_ASSERT_TEXT "assert-failed", "the assertion does not hold: %.*s"
#define MSG_ASSERT_KIND "assert-kind", "an assertion compares dims, it is not %s"
#define MSG_ASSERT_NE "assert-kind", "an assertion with != can only be decided at compile time"

/* graphs that are built call by call */
#define MSG_HOST_NAME "host-name", "a name is empty or has characters that cannot be printed"
#define MSG_HOST_WORD                                                                              \
    "host-name", "\"%.*s\" cannot name a dim: that takes letters, digits and '_', a letter first"
#define MSG_HOST_VALUE "foreign-value", "a value is none of this graph"
#define MSG_HOST_SLICE "slice-use", "a slice can only be a subscript"
#define MSG_HOST_OPERATOR "unknown-operator", "there is no operator \"%.*s\" of %u values"
#define MSG_HOST_TENSOR "bad-tensor", "the tensor is not one: %s"
#define MSG_HOST_WEIGHT_TWICE "weight-twice", "the parameter \"%.*s\" has its value already"
#define MSG_HOST_PARAM                                                                             \
    "missing-weight", "parameter \"%.*s\" has no value, and the option params gives none"
#define MSG_HOST_WEIGHT "weight-type", "parameter \"%.*s\" is %s, not %s"
#define MSG_HOST_BLOCK "block-open", "%s belongs to the model, not to a block of it"
#define MSG_HOST_OPEN "block-open", "the block that begins here is not closed"
#define MSG_HOST_CLOSED "block-closed", "a value belongs to a block that is closed"
#define MSG_HOST_NO_BLOCK "no-block", "no block is open"
#define MSG_HOST_NEXT "block-missing", "the second block of the %s is missing"
#define MSG_HOST_NO_SECOND "no-block", "the block that is open has no other behind it"
#define MSG_NO_ITEMS "no-items", "%s has no items"
#define MSG_DIMS_NEVER                                                                             \
    "dim-mismatch", "dims %s and %s do not agree in the ranges that were asked for"
#define MSG_SIZES_CONFLICT "sizes-conflict", "no sizes fit this model: here %s must %s %s"
#define MSG_NOTE_SIZES_CONFLICT "needed-here", "and here %s must %s %s"
#define MSG_NOTE_MADE "made-here", "it was made here"

/* the language: dims and types */
#define MSG_DIM_LIMIT "dim-limit", "dim %.*s may be at most %d"
#define MSG_DIM_EMPTY "dim-range", "the range of dim %.*s is empty"
#define MSG_DIM_TUNE "dim-tune", "tune %lld is outside the range of dim %.*s"
#define MSG_DIM_OVERRIDE "dim-override", "%lld..%lld is not within the range of dim %.*s"
#define MSG_UNKNOWN_DIM "unknown-dim", "the file declares no dim '%.*s'"
#define MSG_UNBOUND_DIM                                                                            \
    "unbound-dim", "no axis of an input is dim '%.*s' alone, so its value is unknown"
#define MSG_NEGATIVE_DIM "negative-dim", "dim %s is negative"
#define MSG_DIM_TOO_LARGE "dim-overflow", "the dim overflows"
#define MSG_DIM_OPERATION "dim-operation", "'%s' is not possible here between dims"
#define MSG_TYPE_TOO_LARGE "type-size", "a tensor of this type is too large"
#define MSG_DECLARED_TYPE "declared-type", "'%.*s' is declared as %s, but gets %s"

/* the language: subscripts and lists */
#define MSG_INDEX_RANGE "index-range", "index %lld is out of range for length %lld"
#define MSG_INDEX_AXIS "index-range", "index %s is out of range for axis %u of %s"
#define MSG_INDEX_TENSOR                                                                           \
    "index-tensor", "a subscript is known at compile time; use gather for a tensor of indices"
#define MSG_SLICE_RANGE "slice-bounds", "slice %s:%s is out of bounds for axis %u of %s"
#define MSG_STEP "step", "a step of %lld is not possible"
#define MSG_LIST_STEP "step", "a slice of a list has no step"
#define MSG_LIST_SUBSCRIPTS "subscript-count", "a list takes one subscript, not %u"
#define MSG_LIST_LENGTH "list-length", "'%s' of '%.*s' lists %u numbers here, not %u"
#define MSG_LIST_COUNT "list-length", "a list of %lld is needed here, not of %u"
#define MSG_LIST_SIZE "list-size", "a list is limited to %d elements and %d levels"
#define MSG_STRING_SIZE "string-size", "a string is limited to %d bytes"
#define MSG_TOO_MANY_SUBSCRIPTS "subscript-count", "more subscripts than %s has axes"
#define MSG_NOT_INDEXABLE "not-indexable", "%s cannot be subscripted"

/* the language: calls */
#define MSG_POSITIONAL_AFTER_NAMED                                                                 \
    "positional-after-named", "an argument without a name follows one with a name"
#define MSG_ARGUMENT_TWICE "argument-twice", "argument '%.*s' is given twice"
#define MSG_UNKNOWN_ARGUMENT "unknown-argument", "'%.*s' has no parameter '%.*s'"
#define MSG_TOO_MANY_ARGUMENTS "too-many-arguments", "'%.*s' takes at most %u arguments, not %u"
#define MSG_MISSING_ARGUMENT "missing-argument", "'%.*s' needs an argument '%.*s'"
#define MSG_ARGUMENT_KIND "argument-kind", "'%s' of '%.*s' is %s, not %s"
#define MSG_CAST_ARGUMENTS "cast-arguments", "a cast to %s takes one argument, not %u"
#define MSG_SCOPE_UNUSED "scope-unused", "'%.*s' has no parameters that a scope could name"
#define MSG_NOTE_ORDER                                                                             \
    "hint",                                                                                        \
        "the number of inputs is known from x and not given: the second argument of %s is the "    \
        "number of outputs"
#define MSG_EMPTY_RESULT                                                                           \
    "empty-result", "the kernel is larger than x with its padding: the result, %s, has no "        \
                    "elements"
#define MSG_NOTE_SCOPE                                                                             \
    "hint", "an argument is no part of the scope: as stands behind the call that has the "         \
            "parameters"
#define MSG_EMPTY_SCOPE "empty-scope", "the name of a scope is empty"
#define MSG_RECURSION "recursion", "'%.*s' calls itself"
#define MSG_NO_RETURN "no-return", "'%.*s' ends without a return"
#define MSG_RESHAPE_TWICE "reshape-open", "only one dim of a shape can be -1"
#define MSG_RESHAPE_OPEN "reshape-open", "the elements of %s do not divide by %s"
#define MSG_CONCAT_PARTS "concat-parts", "concat takes a list of at least one tensor"
#define MSG_MEAN_DTYPE "mean-dtype", "the mean of %s needs a cast to a float"
#define MSG_EINSUM                                                                                 \
    "einsum-labels", "labels are two groups of letters and the result's, as in \"mk,kn->mn\""
#define MSG_TOO_LARGE_NUMBER "number-size", "%lld is too large here"
#define MSG_TENSOR_ELEMENT "tensor-element", "a tensor is made of numbers, not of %s"
#define MSG_TENSOR_RAGGED                                                                          \
    "tensor-ragged", "the lists of a tensor have equal lengths, at least 1, and at most 8 levels"

/* the language: models and parameters */
#define MSG_NO_MODEL "no-model", "the file has no model"
#define MSG_NO_ENTRY "no-entry", "the file has no model '%.*s'"
#define MSG_NO_OUTPUTS "no-outputs", "model '%.*s' has no output"
#define MSG_MISSING_TYPE "missing-type", "'%.*s' needs a type"
#define MSG_INPUT_DEFAULT "input-default", "inputs and outputs of a model have no default"
#define MSG_OUTPUT_UNASSIGNED "output-unassigned", "output '%.*s' is never assigned"
#define MSG_DIMS_EQUAL                                                                             \
    "dims-equal", "dims %.*s and %.*s must be equal here, which is checked when the model is "     \
                  "entered"
#define MSG_NOTE_DIMS_EQUAL                                                                        \
    "hint", "one name for both declares them equal; 'assert %.*s == %.*s' says that the check is " \
            "meant"
#define MSG_DIM_FIXED                                                                              \
    "dims-equal", "dim %.*s must be %lld here, which is checked when the model is entered"
#define MSG_NOTE_DIM_FIXED "hint", "'assert %.*s == %lld' says that the check is meant"
#define MSG_DUPLICATE_PARAM                                                                        \
    "duplicate-param", "parameter '%.*s' is declared twice; name the scopes of calls with 'as', "  \
                       "or write 'shared param'"
#define MSG_PARAM_DIMS "param-dims", "the dims of parameter '%.*s' are not constant: %s"
#define MSG_PARAM_DISAGREES                                                                        \
    "param-disagrees", "parameter '%.*s' is %s here, but %s in another model"
#define MSG_PARAM_INITIAL "param-initial", "a parameter starts with one number, not %s"
#define MSG_PARAM_INITIAL_SIZE                                                                     \
    "param-initial-size", "a parameter with an initial number has at most %d elements"
#define MSG_MISSING_WEIGHT "missing-weight", "no weight has the name of parameter '%.*s'"
#define MSG_NOTE_WEIGHTS_LEFT "weight", "weights that no parameter has taken so far: %s"
#define MSG_NO_WEIGHTS                                                                             \
    "missing-weight", "parameter '%.*s' has no value, and the file names no weights; --params "    \
                      "gives some"
#define MSG_WEIGHT_TYPE "weight-type", "parameter '%.*s' is %s, but its weight is %s"
#define MSG_NOTE_WEIGHT "weight", "tensor \"%.*s\" at byte %llu"
#define MSG_NOTE_WEIGHT_CAST                                                                       \
    "weight", "weights are never converted in silence: declare the parameter as %s and write "     \
              "cast(…, %s) where it is used"

/* the language: limits of what is evaluated at compile time */
#define MSG_GRAPH_SIZE "graph-size", "the model has more than %d operations"
#define MSG_TOO_MANY_STEPS "too-many-steps", "the model takes more than %d steps to build"
#define MSG_TOO_DEEP_CALLS                                                                         \
    "too-deep", "expressions and blocks are nested more than %d levels deep through all calls"
#define MSG_TOO_MANY_TRIPS "too-many-trips", "a loop may run at most %d times"
#define MSG_CALL_DEPTH "call-depth", "calls are nested more than %d deep"

/* weights: the place in the file first, then the tensor */
#define MSG_WEIGHTS_FORMAT                                                                         \
    "weights-format", "%.*s is none of .safetensors, .npz, .npy or a folder of them"
#define MSG_WEIGHTS_EMPTY_FOLDER                                                                   \
    "weights-empty-folder", "the folder %.*s holds no .safetensors, .npz or .npy file"
#define MSG_WEIGHTS_NAMED_HERE "weights-named-here", "the weights are named here"
#define MSG_WEIGHTS_UNUSED "weights-unused", "%zu of %zu tensors of the weights are not used: %s"
#define MSG_WEIGHT_NAME                                                                            \
    "weight-name",                                                                                 \
        "byte %llu: tensor \"%s\": a name must be UTF-8 without zero bytes, of at most %d bytes"
#define MSG_WEIGHT_TWICE                                                                           \
    "weight-twice", "byte %llu: tensor \"%s\": %s has one of that name already, at byte %llu"
#define MSG_WEIGHT_BOOL                                                                            \
    "weight-bool", "byte %llu: tensor \"%s\": a bool is %u at element %zu, neither 0 nor 1"
#define MSG_WEIGHT_DTYPE "weight-dtype", "byte %llu: tensor \"%s\": dtype \"%s\" is not supported"
#define MSG_WEIGHT_RANK                                                                            \
    "weight-rank", "byte %llu: tensor \"%s\": %zu dimensions or more, but at most %d are "         \
                   "supported"
#define MSG_WEIGHT_DIM                                                                             \
    "weight-dim", "byte %llu: tensor \"%s\": dimension %zu is not an integer of at least 0"
#define MSG_WEIGHT_OVERFLOW                                                                        \
    "weight-overflow", "byte %llu: tensor \"%s\": the shape needs more bytes than fit 63 bits"
#define MSG_WEIGHT_SIZE                                                                            \
    "weight-size", "byte %llu: tensor \"%s\": the shape needs %llu bytes, but there are %llu"
#define MSG_SAFETENSORS_SHORT                                                                      \
    "safetensors-short", "byte 0: the file has %llu bytes, too few for the header's length"
#define MSG_SAFETENSORS_LENGTH                                                                     \
    "safetensors-length",                                                                          \
        "byte 0: the header's length is %llu, but %llu bytes follow and at most %d are allowed"
#define MSG_SAFETENSORS_BOUNDS                                                                     \
    "safetensors-bounds", "byte %llu: the header nests deeper than %d or has more than %d values"
#define MSG_SAFETENSORS_JSON "safetensors-json", "byte %llu: the header is not right: %.300s"
#define MSG_SAFETENSORS_METADATA                                                                   \
    "safetensors-metadata", "byte %llu: __metadata__ is not an object of strings"
#define MSG_SAFETENSORS_ENTRY                                                                      \
    "safetensors-entry",                                                                           \
        "byte %llu: tensor \"%s\": not an object of just dtype, shape and data_offsets"
#define MSG_SAFETENSORS_OFFSETS                                                                    \
    "safetensors-offsets", "byte %llu: tensor \"%s\": data_offsets are not a begin and an end "    \
                           "within %llu bytes of data"
#define MSG_SAFETENSORS_ORDER                                                                      \
    "safetensors-order",                                                                           \
        "byte %llu: tensor \"%s\": the data begins at offset %llu, but the tensor before it ends " \
        "at %llu"
#define MSG_SAFETENSORS_TRAILING                                                                   \
    "safetensors-trailing", "byte %llu: %llu bytes follow the last tensor"
#define MSG_NPY_MAGIC "npy-magic", "byte %llu: tensor \"%s\": not an .npy file"
#define MSG_NPY_VERSION                                                                            \
    "npy-version", "byte %llu: tensor \"%s\": version %u.%u of .npy is not supported"
#define MSG_NPY_LENGTH                                                                             \
    "npy-length", "byte %llu: tensor \"%s\": the header is cut off or longer than %d bytes"
#define MSG_NPY_HEADER "npy-header", "byte %llu: tensor \"%s\": the header should have %s here"
#define MSG_NPY_STRUCTURED                                                                         \
    "npy-structured", "byte %llu: tensor \"%s\": structured dtypes are not supported"
#define MSG_NPY_OBJECT                                                                             \
    "npy-object", "byte %llu: tensor \"%s\": dtype \"%s\" holds pickled objects, which are code "  \
                  "and never loaded"
#define MSG_ZIP_END                                                                                \
    "zip-end", "byte %llu: no end record: the archive is cut off or is not a zip file"
#define MSG_ZIP_DISKS "zip-disks", "byte %llu: archives in several parts are not supported"
#define MSG_ZIP_DIRECTORY                                                                          \
    "zip-directory", "byte %llu: the archive's directory does not fit between members and end"
#define MSG_ZIP_RECORD "zip-record", "byte %llu: a record of the archive is damaged"
#define MSG_ZIP_ENCRYPTED "zip-encrypted", "byte %llu: member \"%s\": encryption is not supported"
#define MSG_ZIP_METHOD                                                                             \
    "zip-method", "byte %llu: member \"%s\": compression method %u is not supported"
#define MSG_ZIP_SIZE "zip-size", "byte %llu: member \"%s\": %llu bytes cannot come out of %llu"
#define MSG_ZIP_PLACE                                                                              \
    "zip-place", "byte %llu: member \"%s\": it overlaps another one or the end of the archive"
#define MSG_ZIP_INFLATE                                                                            \
    "zip-inflate", "byte %llu: member \"%s\": the compressed data is damaged or not of %llu bytes"
#define MSG_ZIP_CRC "zip-crc", "byte %llu: member \"%s\": the checksum does not agree"
#define MSG_ZIP_NOT_NPY "zip-not-npy", "byte %llu: member \"%s\": not an .npy file"
/* passes */
#define MSG_PIPELINE "pipeline", "%s"
#define MSG_CONST_INDEX "constant-index", "index %lld is out of range for an axis of %lld elements"
#define MSG_NO_KERNEL                                                                              \
    "no-kernel", "%s cannot be compiled: its number of steps is not constant or too large"
#define MSG_SORT_SIZE                                                                              \
    "sort-size", "an axis of up to %lld elements cannot be sorted: at most %lld of %s fit the "    \
                 "memory of a thread"
#define MSG_SKELETON "skeleton", "there is no skeleton \"%.*s\" to build a kernel from"
#define MSG_SCHEDULE "schedule", "schedule of kernel \"%.*s\": %s"
#define MSG_SCHEDULE_KERNEL "schedule-kernel", "there is no kernel \"%.*s\" to set the schedule of"
#define MSG_PARAM_VALUE "parameter-value", "parameter \"%.*s\" has no value"
#define MSG_INLINE_SIZE                                                                            \
    "inline-size", "functions call one another so often that the graph exceeds %d nodes"

/* graphs as text */
#define MSG_TIR_VERSION "tir-version", "the text must begin with \"tir 1\""
#define MSG_TIR_SYNTAX "tir-syntax", "expected %s, found '%.*s'"
#define MSG_TIR_END "tir-syntax", "expected %s, found the end of the text"
#define MSG_TIR_OVERFLOW "tir-overflow", "a dim here may leave the range of 62 bits"
#define MSG_TIR_NEGATIVE "tir-negative", "a dim here is negative"
#define MSG_TIR_DIM "tir-dim", "dim %.*s is not what it was declared before"
#define MSG_TIR_RANGE "tir-range", "the range and the tune value of dim %.*s do not fit together"
#define MSG_TIR_OP "tir-op", "there is no op '%.*s'"
#define MSG_TIR_UNKNOWN "tir-unknown", "%%%.*s is not defined before"
#define MSG_TIR_REDEFINED "tir-redefined", "%%%.*s is defined already"
#define MSG_TIR_TYPE "tir-type", "the type is %s, not %s"
#define MSG_TIR_NODE "tir-node", "%s"
#define MSG_TIR_BLOB "tir-blob", "the bytes of this blob are not known"
#define MSG_TIR_DIGEST "tir-digest", "the bytes of this blob are others than its digest says"
#define MSG_TIR_LIMIT "tir-limit", "there are more than %d %s"

/* tile programs */
#define MSG_TILE_SYNTAX "tile-syntax", "expected %s, found %s"
#define MSG_TILE_UNKNOWN "tile-unknown", "%.*s is not defined here"
#define MSG_TILE_REDEFINED "tile-redefined", "%.*s is defined already"
#define MSG_TILE_DIM "tile-dim", "dim %.*s is known with another range"
#define MSG_TILE_OVERFLOW "tile-overflow", "this expression may leave the range of 62 bits"
#define MSG_TILE_COUNT "tile-count", "%u %s instead of %u"
#define MSG_TILE_LIMIT "tile-limit", "more than %u %s"
#define MSG_TILE_UNSOUND "tile-unsound", "this program is not sound: %s"

/* artefacts */
#define MSG_CANNOT_LINK "cannot-link", "could not write the artefact: %s"
#define MSG_ARTEFACT_ELF "artefact-elf", "byte 0: not a shared library of 64 bits"
#define MSG_ARTEFACT_SECTIONS                                                                      \
    "artefact-sections", "byte %llu: the sections are not counted as in a shared library"
#define MSG_ARTEFACT_PLACE                                                                         \
    "artefact-place", "byte %llu: the %s would lie outside the %llu bytes of the file"
#define MSG_ARTEFACT_PART "artefact-part", "no model of tcc, or it holds no %s"
#define MSG_ARTEFACT_GRAPH "artefact-graph", "byte %llu: the graph is damaged"

/* compilations */
#define MSG_PARAM_MISSING "param-missing", "parameter \"%.*s\" has no value in the parameters' file"
#define MSG_PARAM_SHAPE                                                                            \
    "param-shape", "parameter \"%.*s\" is %s in the parameters' file, expected %s"
#define MSG_MANY_MODELS                                                                            \
    "many-models", "%.*s has %zu models: choose one of them with --entry=NAME: %s"
#define MSG_LANGUAGE "language", "%.*s: the name of a model file ends in .g or .tir"

#endif
