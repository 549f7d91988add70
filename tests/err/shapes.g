dim N in 1..256
dim K in 2..9

fn narrow(x) { return x + x[:, :2] }     # error: shape-mismatch@25
fn inner(x) { return softmax(x) @ x }    # error: matmul-shape@33

model m(x: f32[N, 4], z: f32[3, 4], v: f32[5], s: f32) -> (y: f32[N, 4]) {
    a1 = x + v                           # error: shape-mismatch@12
    a2 = x[:, :3] + x                    # error: shape-mismatch@19
    a3 = x @ z                           # error: matmul-shape@12
    a4 = s @ x                           # error: matmul-shape@12
    a5 = v @ v[:4]                       # error: matmul-shape@12
    a6 = v.T                             # error: rank-least@12
    a7 = reshape(z, [5, 3])              # error: element-count@10
    a8 = reshape(z, [5, -1])             # error: reshape-open@21
    a9 = reshape(z, [-1, -1])            # error: reshape-open@21
    b1 = permute(z, [0, 0])              # error: permutation@10
    b2 = permute(z, [0])                 # error: permutation@10
    b3 = broadcast_to(z, [4])            # error: broadcast@10
    b4 = broadcast_to(z, [4, 4])         # error: broadcast@10
    b5 = concat([z, v])                  # error: shape-mismatch@10
    b6 = sum(z, axis=2)                  # error: axis-range@22
    b7 = sum(z, axis=[0, 0])             # error: axis-repeated@10
    b8 = softmax(z, axis=5)              # error: axis-range@10
    b9 = narrow(x)
    c1 = inner(z)
    c2 = conv2d(x, 3, 3) as "c"          # error: assert-failed@10
    c3 = conv(z[None, :, :], z)          # error: rank-mismatch
    c4 = x[0, 0, 0]                      # error: subscript-count@18
    c5 = reshape(z, [1, 1, 1, 1, 1, 1, 1, 3, 4])  # error: rank-limit@21
    c6 = z[None, None, None, None, None, None, None]  # error: rank-limit@11
    c7 = topk(v, 6)                      # error: topk-count@10
    c8 = window_max(z, [2, 2, 2])        # error: list-length@24
    c9 = window_max(z, 0)                # error: attribute-least@10
    d1 = einsum("ij,jk->ik", z, z)       # error: dim-mismatch
    d2 = einsum("ij,jk", z, z)           # error: einsum-labels@17
    d3 = einsum("ij,jk->iz", z, x)       # error: label-unknown
    d4 = gather(z, tensor([0]), batch=1) # error: batch-axes
    d5 = [1, 2][5]                       # error: index-range@17
    d6 = zeros([3 - 5])                  # error: negative-dim@16
    d7 = zeros([2 ** 40, 2 ** 40])       # error: type-size@16
    e1 = zeros([2 ** 62 + 1])            # error: dim-overflow@16
    d8 = iota([3], axis=1)               # error: axis-range@25
    d9 = conv2d(z[None, None, :, :], out=4, kernel=3, groups=3) as "g" # error: conv-channels@10
    e0 = conv(x[:, :, None, None], z[:, :, None, None], groups=9223372036854775807) # error: dim-overflow@10
    y = x
}
