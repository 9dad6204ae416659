// Sorts among nests: of values of a group at each point, of values that a scan carries, into a given layout.
// RUN: heddle-run %s --compare

!m_n = !nd.tensor<f32, m: 3, n: 4>

func.func @in_group(%x: !nd.tensor<f32, g: 5, n: 37>) -> !nd.tensor<f32, g: 5, n: 8> {
  %r = nest.group (g: 5) {
    %s = nest.compute (n: 37) reads %x[g = g, n = 36 - n] {
    ^bb0(%a: f32):
      %b = arith.mulf %a, %a : f32
      nest.yield %b : f32
    } : (!nd.tensor<f32, g: 5, n: 37>) -> !nd.tensor<f32, n: 37>
    %t = nest.sort %s along <n: 37> : (!nd.tensor<f32, n: 37>) -> !nd.tensor<f32, n: 8>
    nest.yield %t : !nd.tensor<f32, n: 8>
  } : !nd.tensor<f32, g: 5, n: 8>
  return %r : !nd.tensor<f32, g: 5, n: 8>
}

// The largest four so far.
func.func @in_scan(%x: !nd.tensor<f32, m: 3, n: 4, t: 9>) -> !m_n {
  %none = nd.constant dense<-1.0e+30> : tensor<f32> by [m, n] : !m_n
  %r = nest.scan along #nd.dims<t: 9> init(%none) reads(%x) : (!m_n, !nd.tensor<f32, m: 3, n: 4, t: 9>) -> !m_n {
  ^bb0(%old: !m_n, %new: !m_n):
    %both = nest.compute (m: 3, n: 8) reads %old[n = n] if [3 - n ge 0] else 0.0 : f32, %new[n = n - 4] if [n - 4 ge 0] else 0.0 : f32 {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      nest.yield %s : f32
    } : (!m_n, !m_n) -> !nd.tensor<f32, m: 3, n: 8>
    %top = nest.sort %both along <n: 8> descending : (!nd.tensor<f32, m: 3, n: 8>) -> !m_n
    nest.yield %top : !m_n
  }
  return %r : !m_n
}

func.func @layouts(%x: !nd.tensor<i32, k: 33, m: 70, n: 21>, %y: !nd.tensor<f64, k: 33, m: 70, n: 21>) -> (!nd.tensor<i32, k: 33, m: 70, n: 20>, !nd.tensor<f64, k: 33, m: 70, n: 20>) {
  %0:2 = nest.sort %x, %y along <n: 21> {layouts = [#nest.layout<[n, m floordiv 8, k, m mod 8]>, #nest.layout<[k, (m, n)]>]}
      : (!nd.tensor<i32, k: 33, m: 70, n: 21>, !nd.tensor<f64, k: 33, m: 70, n: 21>) -> (!nd.tensor<i32, k: 33, m: 70, n: 20>, !nd.tensor<f64, k: 33, m: 70, n: 20>)
  return %0#0, %0#1 : !nd.tensor<i32, k: 33, m: 70, n: 20>, !nd.tensor<f64, k: 33, m: 70, n: 20>
}
