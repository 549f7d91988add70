dim N in 1..1000 tune 100

model polynomial(x: f32[N]) -> (y: f32[N]) { y = x * x * 0.5 - x + 2.0 }
