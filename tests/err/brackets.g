fn f(x) {
    a = foo(x                            # error: unclosed-bracket@12
    b = [1, 2                            # error: unclosed-bracket@9
    return x
}
fn g(x) {                                # error: unclosed-bracket@9
    c = x ) + 2                          # error: stray-bracket@11
    d = (x ] + 3                         # error: unclosed-bracket@9 stray-bracket@12

model m(x: f32[3, ) -> (y: f32) { y = x }  # error: unclosed-bracket@15
fn h(x) { return x }
}                                        # error: stray-bracket@1
