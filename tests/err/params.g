weights "small.safetensors"
dim N in 1..4

fn layer(x) {
    param w: f32[2, 3]                   # error: duplicate-param@11
    return x @ w.T
}

fn wrong_shape(x) {
    param w: f32[3, 3]                   # error: param-disagrees@11
    return x @ w.T
}

fn missing(x) {
    param other: f32[3]                  # error: missing-weight@11
    return x + other
}

fn twice(x) {
    param t: f32[3] = 0                  # error: duplicate-param@11
    return x + t
}

model first(x: f32[N, 3]) -> (y: f32[N, 2]) {
    y = layer(x) as "a"
    z = layer(x) as "a"
}

model second(x: f32[N, 3]) -> (y: f32[N, 3]) {
    param v: f32[4]                      # error: weight-type@11
    param d: f32[N]                      # error: param-dims@14
    param s: f32[3] = [1, 2, 3]          # error: param-initial@23
    param b: i8[3] = 1000                # error: literal-range@22
    param big: f32[20000, 20000] = 0     # error: param-initial-size@36
    p = wrong_shape(x) as "a"
    q = missing(x) as "{N}"              # error: interpolation@25
    r = missing(x) as "no.such"
    c = twice(x) + twice(x)
    y = x
}

model third(x: f32[N, 3]) -> (y: f32[N, 3]) {
    param z: f32[3] = 1
    shared param z: f32[3]
    shared param z: f32[2]               # error: declared-type@18
    y = x + z
}

model fourth(x: f32[N, 3]) -> (y: f32[N, 3]) {
    param z: f32[3, 1] = 1               # error: param-disagrees@11
    y = x
}
