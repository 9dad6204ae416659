// The gradient of each collective is that of the whole program: `whole.mlir` has in one function what the devices of
// `local.mlir` compute together, with the devices' coordinates as names dd and mm. Sums and products of the
// numbers, which are odd halves, are exact.
// Blocks of 5 and 4 elements over three devices are short or empty.
// RUN: split-file %s %t
// RUN: heddle-run %t/whole.mlir --interpret --seed 3 --print-limit 100 > %t/whole
// RUN: heddle-opt %t/local.mlir --nd-pipeline --convert-nd-to-nest --mesh-simulate -o %t/simulated.mlir
// RUN: heddle-run %t/simulated.mlir --interpret --seed 3 --print-limit 100 | diff - %t/whole
// Six ranks of a process.
// RUN: heddle-run %t/local.mlir --seed 3 --print-limit 100 | diff - %t/whole
// What is sent. The sum of a sum, and what a device got, comes from the same devices.
// RUN: heddle-opt %t/local.mlir --nd-differentiate | FileCheck %s
// CHECK-LABEL: @all_reduce(
// CHECK: mesh.all_reduce {{.*}} over [m] combine add
// CHECK: mesh.all_reduce {{.*}} over [m] combine add
// CHECK-LABEL: @all_reduce_product(
// CHECK: mesh.all_gather {{.*}} name mesh$member over [m]
// CHECK: mesh.reduce_scatter {{.*}} name mesh$member over [m] combine add
// CHECK-LABEL: @reduce_scatter(
// CHECK: mesh.reduce_scatter {{.*}} name k over [m] combine add
// CHECK: mesh.all_gather {{.*}} name k over [m]
// CHECK-LABEL: @reduce_scatter_product(
// CHECK: mesh.all_to_all {{.*}} join mesh$member split k over [m]
// CHECK: mesh.all_to_all {{.*}} join k split mesh$member over [m]
// CHECK-LABEL: @all_gather(
// CHECK: mesh.all_gather {{.*}} name k over [m]
// CHECK: mesh.reduce_scatter {{.*}} name k over [m] combine add
// CHECK-LABEL: @all_to_all(
// CHECK: mesh.all_to_all {{.*}} join a split b over [m]
// CHECK: mesh.all_to_all {{.*}} join b split a over [m]
// CHECK-LABEL: @permute(
// CHECK: mesh.permute {{.*}} over [m] shift 1 :
// CHECK: mesh.permute {{.*}} over [m] shift -1 :
// CHECK-LABEL: @permute_ring(
// CHECK: mesh.permute {{.*}} over [m] shift -1 wrap
// CHECK: mesh.permute {{.*}} over [m] shift 1 wrap
// CHECK-LABEL: @broadcast(
// CHECK: mesh.broadcast {{.*}} over [m] from 1
// CHECK: mesh.all_reduce {{.*}} over [m] combine add

//--- local.mlir
!whole = !nd.tensor<f32, dd: 2, k: 2, mm: 3>
!block = !nd.tensor<f32, dd: 1, k: 2, mm: 1>
!dd_k_mm = !nd.tensor<f32, dd: 1, k: 5, mm: 1>
!dd_k = !nd.tensor<f32, dd: 1, k: 2>
!a2_b4_dd1 = !nd.tensor<f32, a: 2, b: 4, dd: 1>
!a5_b2_dd1 = !nd.tensor<f32, a: 5, b: 2, dd: 1>
#blocks = #mesh.sharding<{dd: [d], mm: [m]}>
module attributes {mesh.mesh = #mesh.mesh<d: 2, m: 3>} {
func.func private @all_reduce.of(%x: !block) -> !block attributes {heddle.symbols = ["mesh.d", "mesh.m"]} {
  %y = mesh.all_reduce %x over [m] combine add [0.0 : f32] : (!block) -> !block
  return %y : !block
}
func.func @all_reduce(%x: !block {nd.name = "x", mesh.global = !whole, mesh.sharding = #blocks}, %w: !block {nd.name = "w", mesh.global = !whole, mesh.sharding = #blocks}) -> (!block {mesh.global = !whole, mesh.sharding = #blocks}, !block {mesh.global = !whole, mesh.sharding = #blocks}) attributes {heddle.symbols = ["mesh.d", "mesh.m"]} {
  %i = nd.pointwise %x : (!block) -> !block {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %j = nd.pointwise %w : (!block) -> !block {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %y, %g = nd.vjp @all_reduce.of(%i) cotangents(%j) wrt [0] : (!block, !block) -> (!block, !block)
  return %y, %g : !block, !block
}
func.func private @all_reduce_product.of(%x: !block) -> !block attributes {heddle.symbols = ["mesh.d", "mesh.m"]} {
  %y = mesh.all_reduce %x over [m] combine mul [1.0 : f32] : (!block) -> !block
  return %y : !block
}
func.func @all_reduce_product(%x: !block {nd.name = "x", mesh.global = !whole, mesh.sharding = #blocks}, %w: !block {nd.name = "w", mesh.global = !whole, mesh.sharding = #blocks}) -> (!block {mesh.global = !whole, mesh.sharding = #blocks}, !block {mesh.global = !whole, mesh.sharding = #blocks}) attributes {heddle.symbols = ["mesh.d", "mesh.m"]} {
  %i = nd.pointwise %x : (!block) -> !block {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %j = nd.pointwise %w : (!block) -> !block {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %y, %g = nd.vjp @all_reduce_product.of(%i) cotangents(%j) wrt [0] : (!block, !block) -> (!block, !block)
  return %y, %g : !block, !block
}
func.func private @all_reduce_maximum.of(%x: !block) -> !block attributes {heddle.symbols = ["mesh.d", "mesh.m"]} {
  %y = mesh.all_reduce %x over [m] combine max [0xFF800000 : f32] : (!block) -> !block
  return %y : !block
}
func.func @all_reduce_maximum(%x: !block {nd.name = "x", mesh.global = !whole, mesh.sharding = #blocks}, %w: !block {nd.name = "w", mesh.global = !whole, mesh.sharding = #blocks}) -> (!block {mesh.global = !whole, mesh.sharding = #blocks}, !block {mesh.global = !whole, mesh.sharding = #blocks}) attributes {heddle.symbols = ["mesh.d", "mesh.m"]} {
  %i = nd.pointwise %x : (!block) -> !block {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %j = nd.pointwise %w : (!block) -> !block {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %y, %g = nd.vjp @all_reduce_maximum.of(%i) cotangents(%j) wrt [0] : (!block, !block) -> (!block, !block)
  return %y, %g : !block, !block
}
func.func private @reduce_scatter.of(%x: !dd_k_mm) -> !dd_k attributes {heddle.symbols = ["mesh.d", "mesh.m"]} {
  %s = nd.reduce %x over [mm] neutral [0.0 : f32] : (!dd_k_mm) -> !nd.tensor<f32, dd: 1, k: 5> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nd.yield %c : f32
  }
  %y = mesh.reduce_scatter %s name k over [m] combine add [0.0 : f32] : (!nd.tensor<f32, dd: 1, k: 5>) -> !dd_k
  return %y : !dd_k
}
func.func @reduce_scatter(%x: !dd_k_mm {nd.name = "x", mesh.global = !nd.tensor<f32, dd: 2, k: 5, mm: 3>, mesh.sharding = #blocks}, %w: !dd_k {nd.name = "w", mesh.global = !nd.tensor<f32, dd: 2, k: 5>, mesh.sharding = #mesh.sharding<{dd: [d], k: [m]}>}) -> (!dd_k {mesh.global = !nd.tensor<f32, dd: 2, k: 5>, mesh.sharding = #mesh.sharding<{dd: [d], k: [m]}>}, !dd_k_mm {mesh.global = !nd.tensor<f32, dd: 2, k: 5, mm: 3>, mesh.sharding = #blocks}) attributes {heddle.symbols = ["mesh.d", "mesh.m"]} {
  %i = nd.pointwise %x : (!dd_k_mm) -> !dd_k_mm {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %j = nd.pointwise %w : (!dd_k) -> !dd_k {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %y, %g = nd.vjp @reduce_scatter.of(%i) cotangents(%j) wrt [0] : (!dd_k_mm, !dd_k) -> (!dd_k, !dd_k_mm)
  return %y, %g : !dd_k, !dd_k_mm
}
func.func private @reduce_scatter_product.of(%x: !dd_k_mm) -> !dd_k attributes {heddle.symbols = ["mesh.d", "mesh.m"]} {
  %s = nd.reduce %x over [mm] neutral [0.0 : f32] : (!dd_k_mm) -> !nd.tensor<f32, dd: 1, k: 5> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nd.yield %c : f32
  }
  %y = mesh.reduce_scatter %s name k over [m] combine mul [1.0 : f32] : (!nd.tensor<f32, dd: 1, k: 5>) -> !dd_k
  return %y : !dd_k
}
func.func @reduce_scatter_product(%x: !dd_k_mm {nd.name = "x", mesh.global = !nd.tensor<f32, dd: 2, k: 5, mm: 3>, mesh.sharding = #blocks}, %w: !dd_k {nd.name = "w", mesh.global = !nd.tensor<f32, dd: 2, k: 5>, mesh.sharding = #mesh.sharding<{dd: [d], k: [m]}>}) -> (!dd_k {mesh.global = !nd.tensor<f32, dd: 2, k: 5>, mesh.sharding = #mesh.sharding<{dd: [d], k: [m]}>}, !dd_k_mm {mesh.global = !nd.tensor<f32, dd: 2, k: 5, mm: 3>, mesh.sharding = #blocks}) attributes {heddle.symbols = ["mesh.d", "mesh.m"]} {
  %i = nd.pointwise %x : (!dd_k_mm) -> !dd_k_mm {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %j = nd.pointwise %w : (!dd_k) -> !dd_k {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %y, %g = nd.vjp @reduce_scatter_product.of(%i) cotangents(%j) wrt [0] : (!dd_k_mm, !dd_k) -> (!dd_k, !dd_k_mm)
  return %y, %g : !dd_k, !dd_k_mm
}
func.func private @all_gather.of(%x: !dd_k) -> !dd_k_mm attributes {heddle.symbols = ["mesh.d", "mesh.m"]} {
  %g = mesh.all_gather %x name k over [m] : (!dd_k) -> !nd.tensor<f32, dd: 1, k: 5>
  %y = nd.broadcast %g : !nd.tensor<f32, dd: 1, k: 5> -> !dd_k_mm
  return %y : !dd_k_mm
}
func.func @all_gather(%x: !dd_k {nd.name = "x", mesh.global = !nd.tensor<f32, dd: 2, k: 5>, mesh.sharding = #mesh.sharding<{dd: [d], k: [m]}>}, %w: !dd_k_mm {nd.name = "w", mesh.global = !nd.tensor<f32, dd: 2, k: 5, mm: 3>, mesh.sharding = #blocks}) -> (!dd_k_mm {mesh.global = !nd.tensor<f32, dd: 2, k: 5, mm: 3>, mesh.sharding = #blocks}, !dd_k {mesh.global = !nd.tensor<f32, dd: 2, k: 5>, mesh.sharding = #mesh.sharding<{dd: [d], k: [m]}>}) attributes {heddle.symbols = ["mesh.d", "mesh.m"]} {
  %i = nd.pointwise %x : (!dd_k) -> !dd_k {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %j = nd.pointwise %w : (!dd_k_mm) -> !dd_k_mm {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %y, %g = nd.vjp @all_gather.of(%i) cotangents(%j) wrt [0] : (!dd_k, !dd_k_mm) -> (!dd_k_mm, !dd_k)
  return %y, %g : !dd_k_mm, !dd_k
}
func.func private @all_to_all.of(%x: !a2_b4_dd1) -> !a5_b2_dd1 attributes {heddle.symbols = ["mesh.d", "mesh.m"]} {
  %y = mesh.all_to_all %x join a split b over [m] : (!a2_b4_dd1) -> !a5_b2_dd1
  return %y : !a5_b2_dd1
}
func.func @all_to_all(%x: !a2_b4_dd1 {nd.name = "x", mesh.global = !nd.tensor<f32, a: 5, b: 4, dd: 2>, mesh.sharding = #mesh.sharding<{a: [m], dd: [d]}>}, %w: !a5_b2_dd1 {nd.name = "w", mesh.global = !nd.tensor<f32, a: 5, b: 4, dd: 2>, mesh.sharding = #mesh.sharding<{b: [m], dd: [d]}>}) -> (!a5_b2_dd1 {mesh.global = !nd.tensor<f32, a: 5, b: 4, dd: 2>, mesh.sharding = #mesh.sharding<{b: [m], dd: [d]}>}, !a2_b4_dd1 {mesh.global = !nd.tensor<f32, a: 5, b: 4, dd: 2>, mesh.sharding = #mesh.sharding<{a: [m], dd: [d]}>}) attributes {heddle.symbols = ["mesh.d", "mesh.m"]} {
  %i = nd.pointwise %x : (!a2_b4_dd1) -> !a2_b4_dd1 {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %j = nd.pointwise %w : (!a5_b2_dd1) -> !a5_b2_dd1 {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %y, %g = nd.vjp @all_to_all.of(%i) cotangents(%j) wrt [0] : (!a2_b4_dd1, !a5_b2_dd1) -> (!a5_b2_dd1, !a2_b4_dd1)
  return %y, %g : !a5_b2_dd1, !a2_b4_dd1
}
func.func private @permute.of(%x: !block) -> !block attributes {heddle.symbols = ["mesh.d", "mesh.m"]} {
  %y = mesh.permute %x over [m] shift 1 : !block
  return %y : !block
}
func.func @permute(%x: !block {nd.name = "x", mesh.global = !whole, mesh.sharding = #blocks}, %w: !block {nd.name = "w", mesh.global = !whole, mesh.sharding = #blocks}) -> (!block {mesh.global = !whole, mesh.sharding = #blocks}, !block {mesh.global = !whole, mesh.sharding = #blocks}) attributes {heddle.symbols = ["mesh.d", "mesh.m"]} {
  %i = nd.pointwise %x : (!block) -> !block {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %j = nd.pointwise %w : (!block) -> !block {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %y, %g = nd.vjp @permute.of(%i) cotangents(%j) wrt [0] : (!block, !block) -> (!block, !block)
  return %y, %g : !block, !block
}
func.func private @permute_ring.of(%x: !block) -> !block attributes {heddle.symbols = ["mesh.d", "mesh.m"]} {
  %y = mesh.permute %x over [m] shift -1 wrap : !block
  return %y : !block
}
func.func @permute_ring(%x: !block {nd.name = "x", mesh.global = !whole, mesh.sharding = #blocks}, %w: !block {nd.name = "w", mesh.global = !whole, mesh.sharding = #blocks}) -> (!block {mesh.global = !whole, mesh.sharding = #blocks}, !block {mesh.global = !whole, mesh.sharding = #blocks}) attributes {heddle.symbols = ["mesh.d", "mesh.m"]} {
  %i = nd.pointwise %x : (!block) -> !block {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %j = nd.pointwise %w : (!block) -> !block {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %y, %g = nd.vjp @permute_ring.of(%i) cotangents(%j) wrt [0] : (!block, !block) -> (!block, !block)
  return %y, %g : !block, !block
}
func.func private @broadcast.of(%x: !block) -> !block attributes {heddle.symbols = ["mesh.d", "mesh.m"]} {
  %y = mesh.broadcast %x over [m] from 1 : !block
  return %y : !block
}
func.func @broadcast(%x: !block {nd.name = "x", mesh.global = !whole, mesh.sharding = #blocks}, %w: !block {nd.name = "w", mesh.global = !whole, mesh.sharding = #blocks}) -> (!block {mesh.global = !whole, mesh.sharding = #blocks}, !block {mesh.global = !whole, mesh.sharding = #blocks}) attributes {heddle.symbols = ["mesh.d", "mesh.m"]} {
  %i = nd.pointwise %x : (!block) -> !block {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %j = nd.pointwise %w : (!block) -> !block {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %y, %g = nd.vjp @broadcast.of(%i) cotangents(%j) wrt [0] : (!block, !block) -> (!block, !block)
  return %y, %g : !block, !block
}
}

//--- whole.mlir
!whole = !nd.tensor<f32, dd: 2, k: 2, mm: 3>
!dd2_k2 = !nd.tensor<f32, dd: 2, k: 2>
!dd_k_mm = !nd.tensor<f32, dd: 2, k: 5, mm: 3>
!dd2_k5 = !nd.tensor<f32, dd: 2, k: 5>
!a_b_dd = !nd.tensor<f32, a: 5, b: 4, dd: 2>
func.func private @all_reduce.of(%x: !whole) -> !whole {
  %r = nd.reduce %x over [mm] neutral [0.0 : f32] : (!whole) -> !dd2_k2 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nd.yield %c : f32
  }
  %y = nd.broadcast %r : !dd2_k2 -> !whole
  return %y : !whole
}
func.func @all_reduce(%x: !whole {nd.name = "x"}, %w: !whole {nd.name = "w"}) -> (!whole, !whole) {
  %i = nd.pointwise %x : (!whole) -> !whole {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %j = nd.pointwise %w : (!whole) -> !whole {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %y, %g = nd.vjp @all_reduce.of(%i) cotangents(%j) wrt [0] : (!whole, !whole) -> (!whole, !whole)
  return %y, %g : !whole, !whole
}
func.func private @all_reduce_product.of(%x: !whole) -> !whole {
  %r = nd.reduce %x over [mm] neutral [1.0 : f32] : (!whole) -> !dd2_k2 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    nd.yield %c : f32
  }
  %y = nd.broadcast %r : !dd2_k2 -> !whole
  return %y : !whole
}
func.func @all_reduce_product(%x: !whole {nd.name = "x"}, %w: !whole {nd.name = "w"}) -> (!whole, !whole) {
  %i = nd.pointwise %x : (!whole) -> !whole {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %j = nd.pointwise %w : (!whole) -> !whole {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %y, %g = nd.vjp @all_reduce_product.of(%i) cotangents(%j) wrt [0] : (!whole, !whole) -> (!whole, !whole)
  return %y, %g : !whole, !whole
}
func.func private @all_reduce_maximum.of(%x: !whole) -> !whole {
  %r = nd.reduce %x over [mm] neutral [0xFF800000 : f32] : (!whole) -> !dd2_k2 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %a, %b : f32
    nd.yield %c : f32
  }
  %y = nd.broadcast %r : !dd2_k2 -> !whole
  return %y : !whole
}
func.func @all_reduce_maximum(%x: !whole {nd.name = "x"}, %w: !whole {nd.name = "w"}) -> (!whole, !whole) {
  %i = nd.pointwise %x : (!whole) -> !whole {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %j = nd.pointwise %w : (!whole) -> !whole {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %y, %g = nd.vjp @all_reduce_maximum.of(%i) cotangents(%j) wrt [0] : (!whole, !whole) -> (!whole, !whole)
  return %y, %g : !whole, !whole
}
func.func private @reduce_scatter.of(%x: !dd_k_mm) -> !dd2_k5 {
  %y = nd.reduce %x over [mm] neutral [0.0 : f32] : (!dd_k_mm) -> !dd2_k5 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nd.yield %c : f32
  }
  return %y : !dd2_k5
}
func.func @reduce_scatter(%x: !dd_k_mm {nd.name = "x"}, %w: !dd2_k5 {nd.name = "w"}) -> (!dd2_k5, !dd_k_mm) {
  %i = nd.pointwise %x : (!dd_k_mm) -> !dd_k_mm {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %j = nd.pointwise %w : (!dd2_k5) -> !dd2_k5 {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %y, %g = nd.vjp @reduce_scatter.of(%i) cotangents(%j) wrt [0] : (!dd_k_mm, !dd2_k5) -> (!dd2_k5, !dd_k_mm)
  return %y, %g : !dd2_k5, !dd_k_mm
}
func.func private @reduce_scatter_product.of(%x: !dd_k_mm) -> !dd2_k5 {
  %y = nd.reduce %x over [mm] neutral [1.0 : f32] : (!dd_k_mm) -> !dd2_k5 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    nd.yield %c : f32
  }
  return %y : !dd2_k5
}
func.func @reduce_scatter_product(%x: !dd_k_mm {nd.name = "x"}, %w: !dd2_k5 {nd.name = "w"}) -> (!dd2_k5, !dd_k_mm) {
  %i = nd.pointwise %x : (!dd_k_mm) -> !dd_k_mm {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %j = nd.pointwise %w : (!dd2_k5) -> !dd2_k5 {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %y, %g = nd.vjp @reduce_scatter_product.of(%i) cotangents(%j) wrt [0] : (!dd_k_mm, !dd2_k5) -> (!dd2_k5, !dd_k_mm)
  return %y, %g : !dd2_k5, !dd_k_mm
}
func.func private @all_gather.of(%x: !dd2_k5) -> !dd_k_mm {
  %y = nd.broadcast %x : !dd2_k5 -> !dd_k_mm
  return %y : !dd_k_mm
}
func.func @all_gather(%x: !dd2_k5 {nd.name = "x"}, %w: !dd_k_mm {nd.name = "w"}) -> (!dd_k_mm, !dd2_k5) {
  %i = nd.pointwise %x : (!dd2_k5) -> !dd2_k5 {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %j = nd.pointwise %w : (!dd_k_mm) -> !dd_k_mm {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %y, %g = nd.vjp @all_gather.of(%i) cotangents(%j) wrt [0] : (!dd2_k5, !dd_k_mm) -> (!dd_k_mm, !dd2_k5)
  return %y, %g : !dd_k_mm, !dd2_k5
}
func.func private @all_to_all.of(%x: !a_b_dd) -> !a_b_dd {
  %y = nd.rename %x [] to [] : !a_b_dd -> !a_b_dd
  return %y : !a_b_dd
}
func.func @all_to_all(%x: !a_b_dd {nd.name = "x"}, %w: !a_b_dd {nd.name = "w"}) -> (!a_b_dd, !a_b_dd) {
  %i = nd.pointwise %x : (!a_b_dd) -> !a_b_dd {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %j = nd.pointwise %w : (!a_b_dd) -> !a_b_dd {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %y, %g = nd.vjp @all_to_all.of(%i) cotangents(%j) wrt [0] : (!a_b_dd, !a_b_dd) -> (!a_b_dd, !a_b_dd)
  return %y, %g : !a_b_dd, !a_b_dd
}
func.func private @permute.of(%x: !whole) -> !whole {
  %p = nd.slice %x mm from 1 size 2 : !whole -> !nd.tensor<f32, dd: 2, k: 2, mm: 2>
  %y = nd.pad %p mm low 0 high 1 value 0.0 : f32 : !nd.tensor<f32, dd: 2, k: 2, mm: 2> -> !whole
  return %y : !whole
}
func.func @permute(%x: !whole {nd.name = "x"}, %w: !whole {nd.name = "w"}) -> (!whole, !whole) {
  %i = nd.pointwise %x : (!whole) -> !whole {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %j = nd.pointwise %w : (!whole) -> !whole {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %y, %g = nd.vjp @permute.of(%i) cotangents(%j) wrt [0] : (!whole, !whole) -> (!whole, !whole)
  return %y, %g : !whole, !whole
}
func.func private @permute_ring.of(%x: !whole) -> !whole {
  %p = nd.slice %x mm from 2 size 1 : !whole -> !nd.tensor<f32, dd: 2, k: 2, mm: 1>
  %q = nd.slice %x mm from 0 size 2 : !whole -> !nd.tensor<f32, dd: 2, k: 2, mm: 2>
  %y = nd.concat %p, %q along mm : (!nd.tensor<f32, dd: 2, k: 2, mm: 1>, !nd.tensor<f32, dd: 2, k: 2, mm: 2>) -> !whole
  return %y : !whole
}
func.func @permute_ring(%x: !whole {nd.name = "x"}, %w: !whole {nd.name = "w"}) -> (!whole, !whole) {
  %i = nd.pointwise %x : (!whole) -> !whole {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %j = nd.pointwise %w : (!whole) -> !whole {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %y, %g = nd.vjp @permute_ring.of(%i) cotangents(%j) wrt [0] : (!whole, !whole) -> (!whole, !whole)
  return %y, %g : !whole, !whole
}
func.func private @broadcast.of(%x: !whole) -> !whole {
  %p = nd.slice %x mm from 1 size 1 : !whole -> !nd.tensor<f32, dd: 2, k: 2, mm: 1>
  %r = nd.reduce %p over [mm] neutral [0.0 : f32] : (!nd.tensor<f32, dd: 2, k: 2, mm: 1>) -> !dd2_k2 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nd.yield %c : f32
  }
  %y = nd.broadcast %r : !dd2_k2 -> !whole
  return %y : !whole
}
func.func @broadcast(%x: !whole {nd.name = "x"}, %w: !whole {nd.name = "w"}) -> (!whole, !whole) {
  %i = nd.pointwise %x : (!whole) -> !whole {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %j = nd.pointwise %w : (!whole) -> !whole {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %four : f32
    %c = math.roundeven %b : f32
    %d = arith.addf %c, %half : f32
    nd.yield %d : f32
  }
  %y, %g = nd.vjp @broadcast.of(%i) cotangents(%j) wrt [0] : (!whole, !whole) -> (!whole, !whole)
  return %y, %g : !whole, !whole
}
