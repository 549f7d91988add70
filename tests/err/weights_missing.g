weights "nowhere.safetensors"            # error: cannot-read@9
weights "names.g"                        # error: weights-format@9
model m(x: f32[3]) -> (y: f32[3]) { y = x }
