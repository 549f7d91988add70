# triton#4116: a sum over two axes of [2, 2, 32] was wrong; triton#7264: lanes wrote different partial sums to one address.
#: x = [0..127] -> a = [2016, 6112] b = [192..316:4] c = [3040, 5088] t = 8128
model m(x: f32[2, 2, 32]) -> (a: f32[2], b: f32[32], c: f32[2], t: f32) {
    a = sum(x, axis=[1, 2])
    b = sum(x, axis=[0, 1])
    c = sum(x, axis=[0, 2])
    t = sum(x)
}
