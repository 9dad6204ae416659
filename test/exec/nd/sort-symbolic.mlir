// Sorting along names of symbolic sizes: all elements, a symbolic number of them, a constant number of them.
// RUN: heddle-run %s --compare --size N=0,1,2,7,33,1000,8,20,500 --size M=3,1,5,0,17,1,4,600,2
// RUN: heddle-run %s --compare --row-major --managed --size N=0,9,64 --size M=1,3,7

!n_m = !nd.tensor<f32, n: N, m: M>

func.func @sort(%x: !n_m) -> !n_m {
  %0 = nd.sort %x along n : (!n_m) -> !n_m
  return %0 : !n_m
}
func.func @wide(%x: !nd.tensor<i64, n: N, m: M>, %y: !n_m) -> (!nd.tensor<i64, n: N, m: M>, !n_m) {
  %0, %1 = nd.sort %x, %y along n descending : (!nd.tensor<i64, n: N, m: M>, !n_m) -> (!nd.tensor<i64, n: N, m: M>, !n_m)
  return %0, %1 : !nd.tensor<i64, n: N, m: M>, !n_m
}
func.func @merged(%x: !nd.tensor<i8, n: N * M>, %y: !nd.tensor<f32, m: M, n: N>) -> !nd.tensor<i8, n: N * M> {
  %0 = nd.sort %x along n : (!nd.tensor<i8, n: N * M>) -> !nd.tensor<i8, n: N * M>
  return %0 : !nd.tensor<i8, n: N * M>
}
// The first elements: a symbolic number of them, few, more than few.
func.func @part(%x: !nd.tensor<f32, n: N + M, m: M>, %y: !nd.tensor<f32, n: N>) -> !n_m {
  %0 = nd.sort %x along n : (!nd.tensor<f32, n: N + M, m: M>) -> !n_m
  return %0 : !n_m
}
func.func @few(%x: !nd.tensor<f32, n: N + 5, m: M>) -> !nd.tensor<f32, n: 5, m: M> {
  %0 = nd.sort %x along n : (!nd.tensor<f32, n: N + 5, m: M>) -> !nd.tensor<f32, n: 5, m: M>
  return %0 : !nd.tensor<f32, n: 5, m: M>
}
func.func @eleven(%x: !nd.tensor<f32, n: 2 * N + 11>) -> !nd.tensor<f32, n: 11> {
  %0 = nd.sort %x along n descending : (!nd.tensor<f32, n: 2 * N + 11>) -> !nd.tensor<f32, n: 11>
  return %0 : !nd.tensor<f32, n: 11>
}
func.func @twenty(%x: !nd.tensor<i64, n: N + 20, m: M>) -> !nd.tensor<i64, n: 20, m: M> {
  %0 = nd.sort %x along n descending : (!nd.tensor<i64, n: N + 20, m: M>) -> !nd.tensor<i64, n: 20, m: M>
  return %0 : !nd.tensor<i64, n: 20, m: M>
}
