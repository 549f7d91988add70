# pytorch#94777, pytorch#198131: y = log(x); x.log_() returned the new x; dst[:] = src; src += 1 copied after. A name bound anew leaves
# what was made of the old one alone.
#: x = [1, 2.718281828459045] -> y ~1e-6 [0, 1] z = [-inf, 0] d ~1e-6 [1, 2.7182818] s ~1e-6 [2, 3.7182818]
model m(x: f32[2]) -> (y: f32[2], z: f32[2], d: f32[2], s: f32[2]) {
    s = x
    d = s
    s = s + 1.0
    y = log(x)
    x = round(y)
    z = log(x)
}
