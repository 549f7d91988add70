# error: control-character 
model m() -> (y: f32) { y = 1 }
