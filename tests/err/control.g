model m(x: f32[3], n: i64, p: i64) -> (y: f32[3]) {
    state k: f32[3] = 0                  # error: not-lowered@5
    while n < 3 limit 5 with x, n {      # error: not-lowered@5
        x = x + 1
        n = n + 1
    }
    scan row in x with n {               # error: not-lowered@5
        n = n + 1
    }
    if p > 3 { x = x + k } else { x = x }  # error: not-lowered@8
    y = x
}
