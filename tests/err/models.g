dim N in 1..4
dim E in 5..4                            # error: dim-range@5
dim T in 1..4 tune 5                     # error: dim-tune@5
dim L in 1..4294967296                   # error: dim-limit@5
dim M in 1..4

model no_output(x: f32[N]) -> () { y = x }               # error: no-outputs@7
model unassigned(x: f32[N]) -> (y: f32[N]) { z = x }     # error: output-unassigned@33
model untyped(x) -> (y: f32[N]) { y = x }                # error: missing-type@15 unbound-dim@29
model untyped_text(x: f32[N]) -> (y) { y = "x" }          # error: needs-tensor@40
model untyped_default(x: f32[N]) -> (y = 3) { y = x }     # error: missing-type@38
model wrong_type(x: f32[N, 3]) -> (y: f32[N, 4]) {
    y = x                                                # error: declared-type@5
}
model wrong_dtype(x: f32[N]) -> (y: f16[N]) {
    y = x                                                # error: declared-type@5
}
model unbound(x: f32[M * 2]) -> (y: f32) { y = sum(x) }  # error: unbound-dim@15
model twice(x: f32[N], x: f32[N]) -> (y: f32[N]) { y = x }              # error: duplicate-parameter@24
model twice_out(x: f32[N]) -> (y: f32[N], y: f32[N]) { y = x }          # error: duplicate-parameter@43
model default(x: f32[N] = 3) -> (y: f32[N]) { y = x }                   # error: input-default@27
model bad_type(x: N[3]) -> (y: f32[3]) { y = x }                        # error: needs-dtype@19
model bad_dim(x: f32[1.5]) -> (y: f32[3]) { y = x }                     # error: needs-dim@22
model ranks(x: f32[1, 1, 1, 1, 1, 1, 1, 1, 1]) -> (y: f32) { y = sum(x) }  # error: rank-limit@16
model step(x: f32[N]) -> (y: f32[N]) { minimize x with x; y = x }       # error: minimize@40

train t(x: f32[N]) -> (loss: f32) {                                     # error: not-lowered@1
    loss = sum(x)
    minimize loss with adamw(lr=1e-3)
}
