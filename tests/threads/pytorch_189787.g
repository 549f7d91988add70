# pytorch#189787: floor(sum(softmax(x))) was folded to 1. 1/656 is rounded down in f32, and so is each sum of 656 of them.
#: x = [0*656] -> whole = 0
model m(x: f32[656]) -> (whole: f32) {
    whole = floor(sum(softmax(x)))
}
