// Sorts whose lines the lanes of a block share on a device that has lanes: more and fewer elements than lanes, equal keys, the
// first elements only, lines that do not fit the memory that a block shares, several lines of a block.
// RUN: heddle-run %s --threads 2 --compare

!i8_n = !nd.tensor<i8, n: 700>

// Few different keys: the operands that are permuted show the order of equal ones.
func.func @stable(%x: !i8_n {nd.name = "x"}, %at: !nd.tensor<i32, n: 700> {nd.name = "at"}, %y: !nd.tensor<f64, m: 3, n: 45> {nd.name = "y"}, %z: !nd.tensor<i16, m: 3, n: 45> {nd.name = "z"})
    -> (!i8_n, !nd.tensor<i32, n: 700>, !nd.tensor<f64, m: 3, n: 45>, !nd.tensor<i16, m: 3, n: 45>, !nd.tensor<i8, n: 37>, !nd.tensor<i32, n: 37>) {
  %few = nest.compute (n: 700) reads %x[] {
  ^bb0(%v: i8):
    %c = arith.constant 3 : i8
    %r = arith.andi %v, %c : i8
    nest.yield %r : i8
  } : (!i8_n) -> !i8_n
  %wide = nest.compute (m: 3, n: 45) reads %y[] {
  ^bb0(%v: f64):
    %r = math.roundeven %v : f64
    nest.yield %r : f64
  } : (!nd.tensor<f64, m: 3, n: 45>) -> !nd.tensor<f64, m: 3, n: 45>
  %a:2 = nest.sort %few, %at along <n: 700> : (!i8_n, !nd.tensor<i32, n: 700>) -> (!i8_n, !nd.tensor<i32, n: 700>)
  %b:2 = nest.sort %wide, %z along <n: 45> descending {schedule = #nest.schedule<[block m by 2, loop m by 1, loop n by 16, lane n by 1]>}
    : (!nd.tensor<f64, m: 3, n: 45>, !nd.tensor<i16, m: 3, n: 45>) -> (!nd.tensor<f64, m: 3, n: 45>, !nd.tensor<i16, m: 3, n: 45>)
  %c:2 = nest.sort %few, %at along <n: 700> descending : (!i8_n, !nd.tensor<i32, n: 700>) -> (!nd.tensor<i8, n: 37>, !nd.tensor<i32, n: 37>)
  return %a#0, %a#1, %b#0, %b#1, %c#0, %c#1 : !i8_n, !nd.tensor<i32, n: 700>, !nd.tensor<f64, m: 3, n: 45>, !nd.tensor<i16, m: 3, n: 45>, !nd.tensor<i8, n: 37>, !nd.tensor<i32, n: 37>
}

// 2000 pairs of 8 bytes, twice, are more than half of the memory that a block shares.
func.func @long(%x: !nd.tensor<f32, m: 2, n: 2000> {nd.name = "x"}) -> (!nd.tensor<f32, m: 2, n: 2000>, !nd.tensor<f32, m: 2, n: 5>) {
  %a = nest.sort %x along <n: 2000> : (!nd.tensor<f32, m: 2, n: 2000>) -> !nd.tensor<f32, m: 2, n: 2000>
  %b = nest.sort %x along <n: 2000> : (!nd.tensor<f32, m: 2, n: 2000>) -> !nd.tensor<f32, m: 2, n: 5>
  return %a, %b : !nd.tensor<f32, m: 2, n: 2000>, !nd.tensor<f32, m: 2, n: 5>
}
