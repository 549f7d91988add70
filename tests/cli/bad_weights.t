Weights that are missing, cut off or of another shape: the tensor is named.

  $ python3 $TOP/tests/cli/arrays.py weights
  $ model() {
  >     printf '%s\n' "weights \"$1\"" 'model m(x: f32[3]) -> (y: f32[2]) {' '    param weight: f32[2, 3]' '    param bias: f32[2]' '    y = weight @ x + bias' '}'
  > }; for kind in good missing cut shape dtype unused; do model $kind.safetensors >$kind.g; done; model good.npz >npz.g; model objects.npz >objects.g; model none.safetensors >none.g; model weights.bin >bin.g; sed 1d good.g >bare.g
  $ tcc good.g -o good.so && tcc run good.so -i x=ones
  y: f32[2]
    [4, 4]
  $ tcc npz.g -o npz.so && tcc run npz.so -i x=ones
  y: f32[2]
    [4, 4]
  $ refused missing.g
  ! missing.g:4:11: error: no weight has the name of parameter 'bias' [missing-weight]
  !     4 |     param bias: f32[2]
  !       |           ^~~~
  [1]
  $ sed 's/bias/offset/g' good.g >named.g; refused named.g
  ! named.g:4:11: error: no weight has the name of parameter 'offset' [missing-weight]
  !     4 |     param offset: f32[2]
  !       |           ^~~~~~
  ! named.g:4:11: note: weights that no parameter has taken so far: "bias"
  !     4 |     param offset: f32[2]
  !       |           ^~~~~~
  [1]
  $ refused cut.g
  ! cut.safetensors: error: byte 79: tensor "bias": data_offsets are not a begin and an end within 28 bytes of data [safetensors-offsets]
  ! cut.g:1:9: note: the weights are named here
  !     1 | weights "cut.safetensors"
  !       |         ^~~~~~~~~~~~~~~~~
  [1]
  $ refused shape.g
  ! shape.g:3:11: error: parameter 'weight' is f32[2, 3], but its weight is f32[3, 2] [weight-type]
  !     3 |     param weight: f32[2, 3]
  !       |           ^~~~~~
  ! shape.safetensors: note: tensor "weight" at byte 144
  [1]
  $ refused dtype.g
  ! dtype.g:4:11: error: parameter 'bias' is f32[2], but its weight is i32[2] [weight-type]
  !     4 |     param bias: f32[2]
  !       |           ^~~~
  ! dtype.safetensors: note: tensor "bias" at byte 168
  ! dtype.g:4:11: note: weights are never converted in silence: declare the parameter as i32 and write cast(…, f32) where it is used
  !     4 |     param bias: f32[2]
  !       |           ^~~~
  [1]
  $ refused none.g
  ! none.g:1:9: error: could not read none.safetensors: No such file or directory [cannot-read]
  !     1 | weights "none.safetensors"
  !       |         ^~~~~~~~~~~~~~~~~~
  [1]
  $ refused bin.g
  ! bin.g:1:9: error: could not read weights.bin: No such file or directory [cannot-read]
  !     1 | weights "weights.bin"
  !       |         ^~~~~~~~~~~~~
  [1]
  $ refused objects.g
  ! objects.npz: error: byte 60: tensor "weight": dtype "|O" holds pickled objects, which are code and never loaded [npy-object]
  ! objects.g:1:9: note: the weights are named here
  !     1 | weights "objects.npz"
  !       |         ^~~~~~~~~~~~~
  [1]
  $ head -c 300 good.npz >cut.npz; model() { sed "s/good.safetensors/$1/" good.g; }; model cut.npz >cutz.g; refused cutz.g
  ! cut.npz: error: byte 300: no end record: the archive is cut off or is not a zip file [zip-end]
  ! cutz.g:1:9: note: the weights are named here
  !     1 | weights "cut.npz"
  !       |         ^~~~~~~~~
  [1]
  $ refused bare.g
  ! bare.g:2:11: error: parameter 'weight' has no value, and the file names no weights; --params gives some [missing-weight]
  !     2 |     param weight: f32[2, 3]
  !       |           ^~~~~~
  ! bare.g:3:11: error: parameter 'bias' has no value, and the file names no weights; --params gives some [missing-weight]
  !     3 |     param bias: f32[2]
  !       |           ^~~~
  [1]

What is not used is one warning:

  $ tcc unused.g -o unused.so
  ! unused.g:1:9: warning: 2 of 4 tensors of the weights are not used: "extra", "more" [weights-unused]
  !     1 | weights "unused.safetensors"
  !       |         ^~~~~~~~~~~~~~~~~~~~

A file that the model is made from is not replaced:

  $ cp good.safetensors before; tcc good.g -o good.safetensors; echo "[$?]"; tcc good.g -o ./good.safetensors; cmp before good.safetensors
  [2]
  ! tcc: error: good.safetensors would be replaced, and the model was made from it
  ! tcc: error: ./good.safetensors would be replaced, and the model was made from it

Values from the command line:

  $ tcc bare.g --params=good.safetensors -o bare.so && tcc run bare.so -i x=ones
  y: f32[2]
    [4, 4]
  $ tcc bare.g --params=random:1 -o bare.so && tcc bare.g --params=random:1 -o same.so && cmp bare.so same.so
  $ refused bare.g --params=cut.safetensors
  ! cut.safetensors: error: byte 79: tensor "bias": data_offsets are not a begin and an end within 28 bytes of data [safetensors-offsets]
  [1]
