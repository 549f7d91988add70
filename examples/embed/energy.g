dim N in 1..1000 tune 100

model energy(x: f32[N]) -> (y: f32) { y = sum(x * x) }
