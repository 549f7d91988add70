# ort#15446: MaxPool3d with kernel 3, stride 3, pad 1 and ceil_mode on [1, 2, 3, 6, 5]. A last window may begin before the end of the
# data and its padding, 3 axes: [1, 2, 2, 3, 2]. Padding never wins, though all data are below 0. judge.py pools anew.
#: x = [-180..-1] -> y[1, 2, 2, 3, 2] = [-144, -141, -129, -126, -124, -121, -114, -111, -99, -96, -94, -91,
#:     -54, -51, -39, -36, -34, -31, -24, -21, -9, -6, -4, -1]
model m(x: f32[1, 2, 3, 6, 5]) -> (y) {
    y = max_pool3d(x, 3, stride=3, pad=1, ceil_mode=true)
}
