model m(x: f32[3]) -> (y: f32[3]) {
    n = 0
    for i in 0..<100000 {
        for j in 0..<100000 { n = n + 1 }   # error: too-many-steps
    }
    y = x
}
