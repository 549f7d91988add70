# What each construct means: every output NAME must equal the output NAME_want.

fn grid() { return reshape(arange(12, dtype=f32), [3, 4]) }
fn pair(x) { return x + 1, x * 2 }
fn shift(x, by=1, factor=2.0) { return x * factor + by }
fn scaled(x, times=None) { return x if times == None else x * times }
fn power(x, n) {
    y = x
    for i in 1..<n { y = y * x }
    return y
}
fn typed(x, dtype=f32) { return cast(x, to=dtype) }

model subscripts() -> (row: f32[4], row_want: f32[4], last: f32[3], last_want: f32[3], part: f32[2, 2], part_want: f32[2, 2],
        step: f32[3, 2], step_want: f32[3, 2], back: f32[4], back_want: f32[4], odd: f32[2], odd_want: f32[2], fresh: f32[1, 4, 1],
        fresh_want: f32[1, 4, 1], turned: f32[4, 3], turned_want: f32[4, 3], some: f32[2], some_want: f32[2]) {
    x = grid()
    row = x[1]
    row_want = tensor([4.0, 5.0, 6.0, 7.0])
    last = x[:, -1]
    last_want = tensor([3.0, 7.0, 11.0])
    part = x[1:, 1:3]
    part_want = tensor([[5.0, 6.0], [9.0, 10.0]])
    step = x[:, ::2]
    step_want = tensor([[0.0, 2.0], [4.0, 6.0], [8.0, 10.0]])
    back = x[0, ::-1]
    back_want = tensor([3.0, 2.0, 1.0, 0.0])
    odd = x[0, 2:0:-1]
    odd_want = tensor([2.0, 1.0])
    fresh = x[0][None, :, None]
    fresh_want = reshape(row - 4.0, [1, 4, 1])
    turned = x.T
    turned_want = permute(x, [1, 0])
    some = x[0, ::-2]
    some_want = tensor([3.0, 1.0])
}

model arithmetic() -> (quotient: i64[4], quotient_want: i64[4], floored: i64[4], floored_want: i64[4], left: i64[4], left_want: i64[4],
        same: i64[4], same_want: i64[4], powers: f32[3], powers_want: f32[3], bound: f32[2], bound_want: f32[2], logic: bool[4], logic_want: bool[4],
        choice: i64[4], choice_want: i64[4], small: u8[2], small_want: u8[2], order: f32, order_want: f32) {
    a = tensor([-7, 7, -6, 6])
    quotient = a / 4
    quotient_want = tensor([-1, 1, -1, 1])
    floored = a // 4
    floored_want = tensor([-2, 1, -2, 1])
    left = a % 4
    left_want = tensor([1, 3, 2, 2])
    same = rem(a, 4)
    same_want = tensor([-3, 3, -2, 2])
    powers = tensor([1.0, 2.0, 3.0]) ** 2
    powers_want = tensor([1.0, 4.0, 9.0])
    bound = minimum(tensor([1.0, 5.0]), 3)
    bound_want = tensor([1.0, 3.0])
    logic = a > 0 and not a == 7 or a == -7
    logic_want = tensor([true, false, false, true])
    choice = a if a > 0 else -a
    choice_want = abs(a)
    small = tensor([250, 5], dtype=u8) + 10
    small_want = tensor([4, 15], dtype=u8)
    order = f32(-2 ** 2 + 7 // 2 * 3 % 5 - 2 ** 3 ** 2)
    order_want = f32(-512)
}

model statics() -> (halved: i64, halved_want: i64, truth: f32, truth_want: f32, text: i64, text_want: i64, folded: f32, folded_want: f32,
        looped: f32[3], looped_want: f32[3], lists: i64, lists_want: i64, typed_i: i32, typed_i_want: i32, none: f32, none_want: f32,
        least: f32, least_want: f32) {
    halved = full([], 7 / 2 + -7 // 2 + -7 % 4)
    halved_want = full([], 0)
    truth = f32(1) if 1 < 2 and "a" != "b" and f32 == f32 else nothing_at_all
    truth_want = f32(1)
    i = 3
    text = full([], 1) if "x.{i}" == "x.3" else full([], 0)
    text_want = full([], 1)
    folded = f32(sqrt(2.25) + exp(0) + abs(-2))
    folded_want = f32(4.5)
    looped = power(tensor([1.0, 2.0, 3.0]), 3)
    looped_want = tensor([1.0, 8.0, 27.0])
    l = [1, 2] + [3]
    lists = full([], len(l) * 10 + l[-1] + len(l[1:]))
    lists_want = full([], 35)
    typed_i = typed(2.9, dtype=i32)
    typed_i_want = i32(2)
    if l[0] == 1 { none = scaled(f32(2)) } else if undefined { none = 1 } else { none = 2 }
    none_want = f32(2)
    least = f32(minimum(3, 2.5) + maximum(1, 2))
    least_want = f32(4.5)
}

model functions() -> (a: f32[2], a_want: f32[2], b: f32[2], b_want: f32[2], c: f32[2], c_want: f32[2], d: f32[2], d_want: f32[2]) {
    x = tensor([1.0, 2.0])
    a, b = pair(x)
    a_want = tensor([2.0, 3.0])
    b_want = tensor([2.0, 4.0])
    c = shift(x, factor=3, by=-1)
    c_want = tensor([2.0, 5.0])
    d, e = shift(x), x
    d_want = shift(e, 1, 2)
}

model products() -> (dot: f32, dot_want: f32, vec: f32[3], vec_want: f32[3], left: f32[4], left_want: f32[4], batch: f32[2, 3, 3], batch_want: f32[2, 3, 3],
        one: f32[2, 3, 3], one_want: f32[2, 3, 3], sum8: i32[1, 1], sum8_want: i32[1, 1], named: f32[3, 3], named_want: f32[3, 3]) {
    x = grid()
    dot = x[0] @ x[1]
    dot_want = sum(x[0] * x[1])
    vec = x @ x[0]
    vec_want = sum(x * x[0], axis=1)
    left = x[:, 0] @ x
    left_want = sum(x[:, :1] * x, axis=0)
    p = concat([x[None, :, :], x[None, :, :] + 1.0])
    batch = p @ x.T
    batch_want = concat([(x @ x.T)[None, :, :], ((x + 1.0) @ x.T)[None, :, :]])
    one = x[None, :, :] @ permute(p, [0, 2, 1])
    one_want = concat([(x @ x.T)[None, :, :], (x @ (x + 1.0).T)[None, :, :]])
    sum8 = full([1, 9], 100, dtype=i8) @ full([9, 1], 100, dtype=i8)
    sum8_want = full([1, 1], 90000, dtype=i32)
    named = einsum("ik,jk->ij", x, x)
    named_want = x @ x.T
}

model reductions() -> (all_sum: f32, all_sum_want: f32, rows: f32[3, 1], rows_want: f32[3, 1], two: f32, two_want: f32, top: f32[4], top_want: f32[4],
        at: i64[3], at_want: i64[3], flat: i64, flat_want: i64, some: bool[3], some_want: bool[3], every: bool, every_want: bool, average: f32[3], average_want: f32[3],
        running: f32[3, 4], running_want: f32[3, 4], sorted: f32[3, 4], sorted_want: f32[3, 4], order: i64[3, 2], order_want: i64[3, 2]) {
    x = grid()
    all_sum = sum(x)
    all_sum_want = f32(66)
    rows = sum(x, axis=-1, keep=true)
    rows_want = tensor([[6.0], [22.0], [38.0]])
    two = prod(x[1:, 1:], axis=[0, 1])
    two_want = f32(5 * 6 * 7 * 9 * 10 * 11)
    top = max(x, axis=0)
    top_want = x[2]
    at = argmax(x, axis=1)
    at_want = tensor([3, 3, 3])
    flat = argmin(x)
    flat_want = full([], 0)
    some = any(x > 7.0, axis=1)
    some_want = tensor([false, false, true])
    every = all(x >= 0.0)
    every_want = bool(1)
    average = mean(x, axis=1)
    average_want = tensor([1.5, 5.5, 9.5])
    running = cum_sum(x, axis=1, reverse=true)
    running_want = concat([sum(x, axis=1, keep=true), sum(x[:, 1:], axis=1, keep=true), sum(x[:, 2:], axis=1, keep=true), x[:, 3:]], axis=1)
    sorted, places = sort(x, axis=1, descending=true)
    sorted_want = x[:, ::-1]
    best, order = topk(x, 2)
    order_want = broadcast_to(tensor([3, 2]), [3, 2])
}

model moves() -> (spread: f32[3, 4], spread_want: f32[3, 4], padded: f32[5, 4], padded_want: f32[5, 4], picked: f32[2, 4], picked_want: f32[2, 4], put: f32[3, 4], put_want: f32[3, 4],
        counted: i64[2, 3], counted_want: i64[2, 3], mirrored: f32[3, 4], mirrored_want: f32[3, 4]) {
    x = grid()
    spread = broadcast_to(x[0], [3, 4])
    spread_want = x * 0.0 + x[0]
    padded = pad(x, [1, 0], [1, 0], 7)
    padded_want = concat([full([1, 4], 7.0), x, full([1, 4], 7.0)])
    picked = gather(x, [2, -3])
    picked_want = concat([x[2:], x[:1]])
    put = scatter_add(x, [0, 0], 1)
    put_want = concat([x[:1] + 2.0, x[1:]])
    counted = iota([2, 3], axis=1)
    counted_want = tensor([[0, 1, 2], [0, 1, 2]])
    mirrored = reverse(x, [0, 1])
    mirrored_want = x[::-1, ::-1]
}
