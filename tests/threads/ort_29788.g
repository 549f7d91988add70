# ort#29788: a folded Reshape shared the memory of an initialiser that was freed before it was read. The parameter is used in three shapes.
#: x = [1, 2, 3, 4, 5, 6] -> y = [4, 10, 18, 28, 40, 54] z = [7, 8, 9, 10, 11, 12] s = 39
model m(x: f32[2, 3]) -> (y: f32[2, 3], z: f32[3, 2], s: f32) {
    w = tensor([4.0, 5.0, 6.0, 7.0, 8.0, 9.0])
    y = x * reshape(w, [2, 3])
    z = reshape(w, [3, 2]) + 3.0
    s = sum(reshape(w, [6, 1]))
}
