Model files that are wrong: the place, the line, a caret; an older output stays as it was.

Syntax errors, several in one run:

  $ cat >syntax.g <<'END'
  > dim N in 1..8
  > model m(x: f32[N]) -> (y: f32[N]) {
  >     a = x + 
  >     b = (x * 2
  >     y = a b
  > }
  > END
  $ refused syntax.g
  ! syntax.g:4:9: error: '(' is never closed by ')' [unclosed-bracket]
  !     4 |     b = (x * 2
  !       |         ^
  ! syntax.g:3:12: error: expected an expression before end of the line [syntax]
  !     3 |     a = x + 
  !       |            ^
  ! syntax.g:5:11: error: expected the end of the line, ',', ']' or '}' before 'b' [syntax]
  !     5 |     y = a b
  !       |           ^
  [1]

Unknown names and others that are wrong, all found in one run:

  $ cat >names.g <<'END'
  > dim N in 1..8
  > model m(x: f32[N], k: f32[N, 3]) -> (y: f32[N], z: f32[M]) {
  >     a = relu(xx)
  >     b = rely(x)
  >     c = x + unknown + a
  >     y = k @ x
  > }
  > END
  $ refused names.g
  ! names.g:2:56: error: there is no 'M' [unknown-name]
  !     2 | model m(x: f32[N], k: f32[N, 3]) -> (y: f32[N], z: f32[M]) {
  !       |                                                        ^
  ! names.g:3:14: error: there is no 'xx' [unknown-name]
  !     3 |     a = relu(xx)
  !       |              ^~
  ! names.g:4:9: error: there is no 'rely' [unknown-name]
  !     4 |     b = rely(x)
  !       |         ^~~~
  ! names.g:4:9: note: 'relu' may be meant
  !     4 |     b = rely(x)
  !       |         ^~~~
  ! names.g:5:13: error: there is no 'unknown' [unknown-name]
  !     5 |     c = x + unknown + a
  !       |             ^~~~~~~
  ! names.g:2:49: error: output 'z' is never assigned [output-unassigned]
  !     2 | model m(x: f32[N], k: f32[N, 3]) -> (y: f32[N], z: f32[M]) {
  !       |                                                 ^
  [1]

Names of other languages have theirs here.

  $ echo 'model m(x: f32[3]) -> (y: f32[3]) { y = where(x > 0.0, x, sum(x, keep=True)) }' >where.g
  $ refused where.g
  ! where.g:1:71: error: there is no 'True' [unknown-name]
  !     1 | model m(x: f32[3]) -> (y: f32[3]) { y = where(x > 0.0, x, sum(x, keep=True)) }
  !       |                                                                       ^~~~
  ! where.g:1:71: note: 'true' may be meant
  !     1 | model m(x: f32[3]) -> (y: f32[3]) { y = where(x > 0.0, x, sum(x, keep=True)) }
  !       |                                                                       ^~~~
  ! where.g:1:41: error: there is no 'where' [unknown-name]
  !     1 | model m(x: f32[3]) -> (y: f32[3]) { y = where(x > 0.0, x, sum(x, keep=True)) }
  !       |                                         ^~~~~
  ! where.g:1:41: note: 'select' may be meant
  !     1 | model m(x: f32[3]) -> (y: f32[3]) { y = where(x > 0.0, x, sum(x, keep=True)) }
  !       |                                         ^~~~~
  [1]

Shapes that do not agree, with both shapes and both places:

  $ cat >shapes.g <<'END'
  > model m(x: f32[4, 3], w: f32[2, 5]) -> (y: f32[4, 5]) {
  >     a = x + w
  >     y = x @ w
  > }
  > END
  $ refused shapes.g
  ! shapes.g:2:11: error: shapes f32[4, 3] and f32[2, 5] do not agree [shape-mismatch]
  !     2 |     a = x + w
  !       |           ^
  ! shapes.g:2:9: note: this is f32[4, 3]
  !     2 |     a = x + w
  !       |         ^
  ! shapes.g:2:13: note: this is f32[2, 5]
  !     2 |     a = x + w
  !       |             ^
  ! shapes.g:3:11: error: the summed axes of f32[4, 3] @ f32[2, 5] do not agree [matmul-shape]
  !     3 |     y = x @ w
  !       |           ^
  ! shapes.g:3:9: note: this is f32[4, 3]
  !     3 |     y = x @ w
  !       |         ^
  ! shapes.g:3:13: note: this is f32[2, 5]
  !     3 |     y = x @ w
  !       |             ^
  [1]

Dtypes:

  $ cat >dtypes.g <<'END'
  > model m(x: f32[4], i: i64[4]) -> (y: f32[4]) {
  >     a = x + i
  >     y = i
  > }
  > END
  $ refused dtypes.g
  ! dtypes.g:2:11: error: dtypes f32 and i64 do not agree [dtype-mismatch]
  !     2 |     a = x + i
  !       |           ^
  ! dtypes.g:2:9: note: this is f32[4]
  !     2 |     a = x + i
  !       |         ^
  ! dtypes.g:2:13: note: this is i64[4]
  !     2 |     a = x + i
  !       |             ^
  ! dtypes.g:2:13: note: a cast such as f32(x) converts one to the other
  !     2 |     a = x + i
  !       |             ^
  ! dtypes.g:3:5: error: 'y' is declared as f32[4], but gets i64[4] [declared-type]
  !     3 |     y = i
  !       |     ^
  ! dtypes.g:1:35: note: declared here
  !     1 | model m(x: f32[4], i: i64[4]) -> (y: f32[4]) {
  !       |                                   ^
  [1]

Names declared twice:

  $ cat >twice.g <<'END'
  > dim N in 1..8
  > dim N in 1..9
  > fn f(x, x) { return x }
  > fn f(x) { return x }
  > model m(x: f32[2], x: f32[2]) -> (y: f32[2]) {
  >     y = x
  > }
  > END
  $ refused twice.g
  ! twice.g:2:5: error: 'N' is already declared [duplicate-name]
  !     2 | dim N in 1..9
  !       |     ^
  ! twice.g:1:5: note: declared here
  !     1 | dim N in 1..8
  !       |     ^
  ! twice.g:4:4: error: 'f' is already declared [duplicate-name]
  !     4 | fn f(x) { return x }
  !       |    ^
  ! twice.g:3:4: note: declared here
  !     3 | fn f(x, x) { return x }
  !       |    ^
  ! twice.g:5:20: error: 'x' is listed twice [duplicate-parameter]
  !     5 | model m(x: f32[2], x: f32[2]) -> (y: f32[2]) {
  !       |                    ^
  [1]

A parameter declared twice:

  $ cat >params.g <<'END'
  > fn linear(x) {
  >     param weight: f32[2, 2]
  >     return x @ weight
  > }
  > model m(x: f32[2, 2]) -> (y: f32[2, 2]) {
  >     y = linear(linear(x))
  > }
  > END
  $ refused params.g --params=random
  ! params.g:2:11: error: parameter 'weight' is declared twice; name the scopes of calls with 'as', or write 'shared param' [duplicate-param]
  !     2 |     param weight: f32[2, 2]
  !       |           ^~~~~~
  ! params.g:6:9: note: called from here
  !     6 |     y = linear(linear(x))
  !       |         ^~~~~~
  ! params.g:2:11: note: declared here
  !     2 |     param weight: f32[2, 2]
  !       |           ^~~~~~
  [1]

Recursion:

  $ cat >recursion.g <<'END'
  > fn f(x) { return g(x) }
  > fn g(x) { return f(x) }
  > model m(x: f32[2]) -> (y: f32[2]) {
  >     y = f(x)
  > }
  > END
  $ refused recursion.g
  ! recursion.g:2:18: error: 'f' calls itself [recursion]
  !     2 | fn g(x) { return f(x) }
  !       |                  ^
  ! recursion.g:1:18: note: called from here
  !     1 | fn f(x) { return g(x) }
  !       |                  ^
  ! recursion.g:4:9: note: called from here
  !     4 |     y = f(x)
  !       |         ^
  ! recursion.g:1:4: note: declared here
  !     1 | fn f(x) { return g(x) }
  !       |    ^
  [1]

What is not lowered says so:

  $ cat >state.g <<'END'
  > model m(x: f32[2]) -> (y: f32[2]) {
  >     state s: f32[2] = 0
  >     y = x + s
  > }
  > END
  $ refused state.g
  ! state.g:2:5: error: 'state' is not supported yet [not-lowered]
  !     2 |     state s: f32[2] = 0
  !       |     ^~~~~
  [1]

An index is told as it is written, and so is a quotient that is no whole number:

  $ echo 'model m(x: f32[3, 4]) -> (y: f32[3]) { y = x[:, -5] * (1 / 3) }' >index.g; refused index.g
  ! index.g:1:49: error: index -5 is out of range for axis 1 of f32[3, 4] [index-range]
  !     1 | model m(x: f32[3, 4]) -> (y: f32[3]) { y = x[:, -5] * (1 / 3) }
  !       |                                                 ^
  ! index.g:1:58: warning: of whole numbers 1 / 3 is 0 [truncated]
  !     1 | model m(x: f32[3, 4]) -> (y: f32[3]) { y = x[:, -5] * (1 / 3) }
  !       |                                                          ^
  ! index.g:1:58: note: 1.0 / 3 is a float; // says that a whole number is meant
  !     1 | model m(x: f32[3, 4]) -> (y: f32[3]) { y = x[:, -5] * (1 / 3) }
  !       |                                                          ^
  [1]

A file without a model, and one with several:

  $ echo 'dim N in 1..8' >none.g; refused none.g
  ! none.g: error: the file has no model [no-model]
  [1]
  $ (double; echo 'model other(x: f32[2]) -> (y: f32[2]) { y = x }') >two.g; refused two.g
  ! tcc: error: two.g has 2 models: choose one of them with --entry=NAME: double, other [many-models]
  [1]
  $ refused two.g --entry=third
  ! two.g: error: the file has no model 'third' [no-entry]
  [1]
  $ tcc two.g --entry=other -o other.so && tcc info other.so | grep model
  format: tcc model
  model: other

An index that is out of range at compile time:

  $ echo 'model m(x: f32[2]) -> (y: f32) { y = x[2] }' >index.g; refused index.g
  ! index.g:1:40: error: index 2 is out of range for axis 0 of f32[2] [index-range]
  !     1 | model m(x: f32[2]) -> (y: f32) { y = x[2] }
  !       |                                        ^
  [1]

Sizes that contradict each other, wherever they meet; more in tests/unit/ir_conflict.c:

  $ cat >conflict.g <<'END'
  > dim M in 0..100
  > dim N in 0..100
  > model m(x: f32[M], y: f32[7], z: f32[2], w: f32[N]) -> (a: f32[7], b: f32[2], c: f32[N]) {
  >     assert M == 7
  >     a = x + y
  >     assert N + 5 == M
  >     c = w * 2.0
  >     assert N == 3
  >     b = z
  > }
  > END
  $ refused conflict.g
  ! conflict.g:8:14: error: no sizes fit this model: here N must equal 3 [sizes-conflict]
  !     8 |     assert N == 3
  !       |              ^~
  ! conflict.g:6:18: note: and here N + 5 must equal M
  !     6 |     assert N + 5 == M
  !       |                  ^~
  ! conflict.g:4:14: note: and here M must equal 7
  !     4 |     assert M == 7
  !       |              ^~
  [1]
  $ cat >conflict.tir <<'END'
  > tir 1
  > dim M in 0..100 tune 4
  > graph @g {
  >   %0 = input index=0 name="c" : f32[M]
  >   %1 = input index=1 name="s" : f32[2, 7]
  >   %2 = input index=2 name="y" : f32[2]
  >   %3 = scan %0, %1 carried=1 reverse=0 : f32[M] {
  >     %0 = input index=0 name="" : f32[7]
  >     %1 = input index=1 name="" : f32[7]
  >     %2 = add %0, %1 : f32[7]
  >     return %2
  >   }
  >   %4 = add %3, %2 : f32[2]
  >   return y = %4
  > }
  > END
  $ refused conflict.tir
  ! conflict.tir:13:3: error: no sizes fit this model: here M must equal 2 [sizes-conflict]
  !    13 |   %4 = add %3, %2 : f32[2]
  !       |   ^
  ! conflict.tir:7:3: note: and here M must equal 7
  !     7 |   %3 = scan %0, %1 carried=1 reverse=0 : f32[M] {
  !       |   ^
  [1]
