dim N in 1..4

model m(x: f32[N, 4]) -> (y: f32[N, 4]) {
    a1 = 1 / 0                           # error: division-by-zero@12
    a2 = 9223372036854775807 + 1         # error: int-overflow@30
    a3 = 2 ** -1                         # error: negative-exponent@12
    a4 = 2 ** 63                         # error: int-overflow@12
    a5 = "a" + 1                         # error: operator@14
    a6 = -"a"                            # error: operator@10
    a7 = None * 2                        # error: operator@15
    a8 = x + None                        # error: needs-tensor@14
    a9 = "a" < "b"                       # error: operator@14
    b1 = N ** 2                          # error: dim-operation@12
    b2 = N // (N - 4)                    # error: dim-operation@12
    b3 = "{x}"                           # error: interpolation@12
    b4 = "{nope}"                        # error: unknown-name@12
    b5 = "{N"                            # error: interpolation@11
    if 3 { z = 1 }                       # error: condition@8
    if x { z = 1 }                       # error: not-lowered@8
    if N > 2 { z = 1 }                   # error: not-lowered@8
    for i in 0..<N { z = i }             # error: needs-int@18
    for i in 0.0..<3 { z = i }           # error: needs-int@14
    for i in 0..<100001 { z = i }        # error: too-many-trips@5
    assert N > 4                         # error: assert-failed@12
    assert N                             # error: assert-kind@12
    assert N != 2                        # error: assert-kind@12
    assert N <= 4 and N == 9             # error: assert-failed@23
    b6 = not 3                           # error: operator@10
    b7 = [1] @ [2]                       # error: needs-tensor@10
    b8 = full([2], 300, dtype=i8)        # error: literal-range@20
    return x                             # error: return-in-model@5
    y = x
}
