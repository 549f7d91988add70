dim N in 1..1000 tune 100

model differences(x: f32[N]) -> (y: f32[N - 1]) { y = x[1:] - x[:-1] }
