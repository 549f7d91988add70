# no model at all
# error@0: no-model
fn f(x) { return x }
