# tvm#19437: CumSum along axis 1 was taken along axis 0; TensorRT#4513 ignored reverse. onnx#2030 has the four kinds (and an error of its own:
# its text prints the reverse one as [6, 3, 1]).
#: x = [1, 2, 3] w = [1, 2, 3, 4, 5, 6] -> a = [1, 3, 6] b = [0, 1, 3] c = [6, 5, 3] d = [5, 3, 0]
#:     one = [1, 3, 6, 4, 9, 15] zero = [1, 2, 3, 5, 7, 9] last = [6, 5, 3, 15, 11, 6]
model m(x: f32[3], w: f32[2, 3]) -> (
    a: f32[3], b: f32[3], c: f32[3], d: f32[3], one: f32[2, 3], zero: f32[2, 3], last: f32[2, 3]) {
    a = cum_sum(x, 0)
    b = cum_sum(x, 0, exclusive=true)
    c = cum_sum(x, 0, reverse=true)
    d = cum_sum(x, 0, exclusive=true, reverse=true)
    one = cum_sum(w, 1)
    zero = cum_sum(w, 0)
    last = cum_sum(w, -1, reverse=true)
}
