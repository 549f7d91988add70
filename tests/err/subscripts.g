dim N in 2..256

model m(x: f32[N, 4], i: i64[N]) -> (y: f32[N, 4]) {
    a1 = x[:, 4]                         # error: index-range@15
    a2 = x[:, -5]                        # error: index-range@15
    a3 = x[:, 1:5]                       # error: slice-bounds@16
    a4 = x[:, 3:2]                       # error: slice-bounds@16
    a5 = x[:, ::0]                       # error: step@17
    a6 = x[i]                            # error: index-tensor@12
    a7 = x[1.0]                          # error: needs-int@12
    a8 = x["a"]                          # error: needs-int@12
    a9 = x.shape[2]                      # error: index-range@18
    b1 = x.shape[::2]                    # error: step@20
    b2 = x.shape[0, 1]                   # error: subscript-count@17
    b3 = (3)[0]                          # error: not-indexable@11
    b4 = gather(x, 4, axis=1)            # error: index-range@20
    b5 = gather(x, [0, 9], axis=1)       # error: index-range@20
    b6 = x[300]                          # error: index-range@12
    b7 = x[:, :-9]                       # error: slice-bounds@15
    b8 = gather(x, [0.5], axis=1)        # error: needs-int@20
    x[0, :] = x[1, :]                    # error: not-lowered@5
    y = x
}
