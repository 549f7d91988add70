model m(x: f32[3]) -> (y: f32[3]) {
    for i in 0..<100000 {
        for j in 0..<100 { x = x + 1.5 }    # error: graph-size@34
    }
    y = x
}
