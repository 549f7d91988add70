# error: not-utf8 ÿ
model m() -> (y: f32) { y = 1 }
