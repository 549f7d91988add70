model m(x: f32[3]) -> (y: f32[3]) {
    s = "ab"
    for i in 0..<100 { s = "{s}{s}" }       # error: string-size@28
    l = [1]
    for i in 0..<100 { l = l + l }          # error: list-size@30
    k = [1]
    for i in 0..<100 { k = [k] }            # error: list-size@28
    n = 2
    for i in 0..<100 { n = n * n }          # error: int-overflow@30
    y = x
}
