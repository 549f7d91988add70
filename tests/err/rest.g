# A quotient of whole numbers that does not come out even: told once a place.
fn third(x) { return x * (1 / 3) }       # warning: truncated@29

model m(x: f32[4]) -> (y: f32[4]) {
    for i in 0..<3 { x = third(x + (6 / 3)) }
    a = 7 / 2                            # warning: truncated@11
    b = 7 // 2 + 8 / 2 + -4 / -1
    y = x * 7.0 / 2 + a + b
}
