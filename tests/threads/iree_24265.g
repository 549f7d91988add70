# iree#24265: ReduceMax over the axes [0, -1] crashed the compiler; onnx-mlir#1543: GatherElements with axis -1 did.
#: x = [1, 5, 2, 4, 3, 0, -1, 0, 9, 1, 2, 3] -> y = [5, 9] z = [5, 9] g = [2, 1, 0, 4, 9, -1, 3, 1]
model m(x: f32[2, 2, 3]) -> (y: f32[2], z: f32[2], g: f32[2, 2, 2]) {
    y = max(permute(x, [1, 0, 2]), axis=[0, -1])
    z = max(permute(x, [1, 0, 2]), axis=[-1, 0])
    g = gather(x, tensor([-1, 0]), axis=-1)
}
