fn layer(x) {
    param w: f32[3] = 1                  # error: duplicate-param@11
    return x * w
}
fn block(x) { return layer(layer(x) as "a") as "b" }
model m(x: f32[3]) -> (y: f32[3]) {
    x = block(x) as "p"
    x = block(x) as "q"
    for i in 0..<2 { x = layer(x) as "r.{i}" }
    x = layer(x) as "r.1"
    y = x
}
