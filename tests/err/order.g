# What is given in another place than it stands: a scope behind the call around the one that was
# meant, numbers in the order of other libraries, one number too many.
fn twice(x) { return x + x }

model order(x: f32[4, 4], image: f32[1, 3, 8, 8]) -> (y: f32[4, 4]) {
    a = relu(linear(x, 4) as "fc0")
    a = relu(linear(a, 4)) as "fc"             # warning: scope-unused
    for i in 0..<3 { a = twice(a) as "t.{i}" } # warning: scope-unused
    b = linear(x, 4, 3) as "fc1"               # error: argument-kind@22
    c = conv2d(image, 3, 16, 3) as "conv"      # warning: empty-result
    assert 4 < x.shape[0], "four is {n}"       # error: unknown-name
    assert 4 < x.shape[0], "four is small"     # error: assert-failed@12
    assert(x.shape[0] > 4, "it is")            # error: assert-failed@12
    assert(x.shape[0] > 4 and 1 == 2)          # error: assert-failed@12 assert-failed
    y = linear(a, 4) as "fc2"
}
