dim A 1..4                               # error: syntax@7
dim B in 1..                             # error: syntax@13
weights digits                           # error: syntax@9
fn f(x, y=3) {
    a = x + + y                          # error: syntax@13
    b = x y                              # error: syntax@11
    c = x == y == x                      # error: syntax@16
    x + y                                # error: syntax@7
    for i in 0..3 { z = i }              # error: syntax@15
    if x { z = 1 }
    else { z = 2 }                       # error: syntax@5
    param w f32                          # error: syntax@13
    d = f(x,, y)                         # error: syntax@13
    e = if x                             # error: syntax@9
    return                               # error: syntax@11
    state = 3                            # error: syntax@11
    g = x.3                              # error: bad-number syntax
    h = .5                               # error: bad-number@9
    i = 1.                               # error: bad-number@9
    j = 0x10                             # error: bad-number@9
    k = 1e999                            # error: float-literal@9
    l = 99999999999999999999             # error: int-literal@9
    m = "abc # error: open-string@9
    n = x $ y                            # error: stray-character@11 syntax@13
    o = x ? y                            # error: stray-character@11 syntax@13
    p = é                                # error: stray-character@9 syntax
    q = x as "a"                         # error: syntax@11
    r = a if b                           # error: syntax@15
    @fast                                # error: unknown-annotation@6
    s = x
    @precision                           # error: annotation-arguments@6
    t = x
    @checkpoint(3)                       # error: annotation-arguments@6
    u = x
    x[0] 3                               # error: syntax@10
    return x
}
model m(x: f32) -> y: f32 { y = x }      # error: syntax@20
fn g(x)                                  # error: syntax@8
{
    return x
}
bogus                                    # error: syntax@1
