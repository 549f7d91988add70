dim N in 1..4

fn f(x, n=2) { return x * n }
fn g(x: f32[N, 4], n) { return x * n }
fn a(x) { return b(x) }
fn b(x) { return a(x) }                  # error: recursion@18
fn own(x) { return own(x) }              # error: recursion@20
fn nothing(x) { y = x }                  # error: no-return@4
fn pair(x) { return x, x }

model m(x: f32[N, 4], i: i64[N]) -> (y: f32[N, 4]) {
    c1 = f()                             # error: missing-argument@10
    c2 = f(x, 1, 2)                      # error: too-many-arguments@18
    c3 = f(x, m=2)                       # error: unknown-argument@17
    c4 = f(x, x=x)                       # error: argument-twice@17
    c5 = f(n=2, x)                       # error: positional-after-named@17
    c6 = g(i, 2)                         # error: declared-type@12
    c7 = a(x)
    c8 = own(x)
    c9 = nothing(x)
    d1 = relu(x, 3)                      # error: too-many-arguments@18
    d2 = exp()                           # error: missing-argument@10
    d3 = exp(x, x)                       # error: too-many-arguments@17
    d4 = sum(x, axes=1)                  # error: unknown-argument@22
    d5 = sum(x, axis="a")                # error: argument-kind@22
    d6 = sum(x, keep=1)                  # error: argument-kind@22
    d7 = sum("x")                        # error: argument-kind@14
    d8 = reshape(x, "a")                 # error: argument-kind@21
    d9 = f32(x, x)                       # error: cast-arguments@10
    e1 = exp(x) as "scope"               # error: scope-unused@20
    e2, e3 = x                           # error: target-count@5
    e4 = pair(x) + 1                     # error: operator@18
    e5, e6, e7 = pair(x)                 # error: target-count@5
    e8 = cast(x, 3)                      # error: argument-kind@18
    e9 = concat(x)                       # error: concat-parts@17
    h1 = tensor([[1, 2], [3]])           # error: tensor-ragged@17
    h2 = tensor(["a"])                   # error: tensor-element@17
    h3 = len(x)                          # error: argument-kind@14
    h4 = conv2d(x[None, None, :, :], 2, kernel=[1, 2, 3]) as "c"  # error: list-length@10
    h5 = f(x) as ""                      # error: empty-scope@18
    y = x
}
