# Sourced before every step of a case.

# refused ARGUMENT...: compiles to out/model.so, where an older file stands. Whatever is wrong with
# the model, that file stays as it was and nothing else is left in its folder.
refused() {
    mkdir -p out
    echo "an older model" >out/model.so
    tcc "$@" -o out/model.so
    local status=$?
    cmp -s out/model.so <(echo "an older model") || echo "the older file was damaged"
    [ "$(ls -A out)" = model.so ] || echo "left behind: $(ls -A out)"
    return $status
}

# A model that computes y = 2 x, for any N in 1..8.
double() {
    printf '%s\n' 'dim N in 1..8 tune 3' 'model double(x: f32[N]) -> (y: f32[N]) {' '    y = x * 2' '}'
}

# npy FILE DTYPE VALUES...: a one-dimensional array of f4, i4 or i8.
npy() { python3 "$TOP/tests/cli/arrays.py" npy "$@"; }
