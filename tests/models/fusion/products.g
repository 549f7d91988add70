# Products of rows: sums that register tiles do not suit are one kernel over rows.
dim N in 0..64 tune 8
model dot(a: f32[300], b: f32[300]) -> (y: f32) { y = a @ b }
model matvec(a: f32[N, 300], b: f32[300]) -> (y: f32[N]) { y = a @ b }
model rows(a: f32[N, 300], b: f32[N, 300]) -> (y: f32[N]) { y = einsum("ni,ni->n", a, b) }
model last(a: f32[N, 40, 33], b: f32[N, 33]) -> (y: f32[40, 33]) { y = einsum("nic,nc->ic", a, b) }
model half(a: f16[N, 300], b: f16[300]) -> (y: f16[N]) { y = a @ b }
model outer(a: f32[N], b: f32[30]) -> (y: f32[N, 30]) { y = einsum("i,j->ij", a, b) }
model bytes(a: i8[N, 300], b: i8[300]) -> (y: i32[N]) { y = a @ b }
