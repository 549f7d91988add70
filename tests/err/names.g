dim N in 1..256 tune 32
dim N in 1..8                            # error: duplicate-name@5
dim M in 1..4

fn f(x) { return x }
fn f(x, y) { return y }                  # error: duplicate-name@4

fn twice(x, x) { return x }              # error: duplicate-parameter@13

model m(x: f32[N, 4], i: i64[N]) -> (y: f32[N, 4]) {
    a = reluu(x)                         # error: unknown-name@9
    b = xx + 1                           # error: unknown-name@9
    c = f                                # error: not-a-value@9
    d = exp                              # error: not-a-value@9
    e = x(1)                             # error: not-a-function@9
    g = x.shape(1)                       # error: not-a-function@9
    h = N(1)                             # error: not-a-function@9
    j = x.width                          # error: unknown-member@11
    k = M + 1                            # error: unbound-dim@9
    l = f(x) + M                         # error: unbound-dim@16
    o = m                                # error: not-a-value@9
    p = twice(x, x)
    y = x
}
