//===- CheckOps.td - assertions on tensors -----------------*- tablegen -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For tests only: programs in test/exec assert the values of their tensors. The interpreter
// evaluates these ops. Compiled functions do not contain them.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_CHECK_OPS_TD
#define HEDDLE_CHECK_OPS_TD

include "dialects/nd/NdTypes.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"

def Check_Dialect : Dialect {
  let name = "check";
  let cppNamespace = "::heddle::check";
  let summary = "Assertions on tensors, for tests";
  let description = [{
    Each op compares two tensors of one type, or a tensor and a literal. It has no results and is not removed as dead
    code. If the comparison fails, the message has the first coordinates at which the values differ, both values and
    the location of the op.
  }];
  let dependentDialects = ["::heddle::nd::NdDialect"];
}

class Check_Op<string mnemonic, list<Trait> traits = []> : Op<Check_Dialect, mnemonic, traits> {
  let hasVerifier = 1;
}

def Check_ExpectEqOp : Check_Op<"expect_eq", [AllTypesMatch<["got", "expected"]>]> {
  let summary = "asserts that two tensors have equal bits, where NaN equals NaN";
  let description = [{
    Constraints:
    - (c1) both tensors have the same type.

    ```mlir
    check.expect_eq %got, %expected : !nd.tensor<i32, row: 3>
    ```
  }];
  let arguments = (ins Nd_Tensor:$got, Nd_Tensor:$expected);
  let assemblyFormat = "$got `,` $expected attr-dict `:` type($got)";
}

def Check_ExpectCloseOp : Check_Op<"expect_close", [AllTypesMatch<["got", "expected"]>]> {
  let summary = "asserts that floats differ by at most `atol + rtol * |expected|`";
  let description = [{
    An infinity equals itself, and NaN equals NaN.

    Constraints:
    - (c1) both tensors have the same type, with float elements.
    - (c2) the tolerances are finite and not negative.

    ```mlir
    check.expect_close %got, %expected {atol = 1.0e-6 : f64, rtol = 1.0e-5 : f64} : !nd.tensor<f32, row: 3>
    ```
  }];
  let arguments = (ins Nd_Tensor:$got, Nd_Tensor:$expected,
                   DefaultValuedAttr<F64Attr, "1e-6">:$atol, DefaultValuedAttr<F64Attr, "1e-5">:$rtol);
  let assemblyFormat = "$got `,` $expected attr-dict `:` type($got)";
}

def Check_ExpectEqConstOp : Check_Op<"expect_eq_const"> {
  let summary = "asserts that a tensor equals a literal, whose order of names is given";
  let description = [{
    Constraints:
    - (c1) `order` is a permutation of the names of the tensor.
    - (c2) the shape of `value` is the sizes in that order (a splat may have any sizes); its element type is the scalar type of the tensor.

    ```mlir
    check.expect_eq_const %got is dense<[[1, 2], [3, 4]]> : tensor<2x2xi32> by [row, column] : !nd.tensor<i32, column: 2, row: 2>
    ```
  }];
  let arguments = (ins Nd_Tensor:$got, ElementsAttr:$value, StrArrayAttr:$order);
  let assemblyFormat = "$got `is` $value `by` custom<Names>($order) attr-dict `:` type($got)";
}

def Check_ExpectCloseConstOp : Check_Op<"expect_close_const"> {
  let summary = "asserts that floats are close to a literal";
  let description = [{
    Constraints: (c1) and (c2) as for `check.expect_eq_const`, (c3) float elements, (c4) tolerances as for `check.expect_close`.
  }];
  let arguments = (ins Nd_Tensor:$got, ElementsAttr:$value, StrArrayAttr:$order,
                   DefaultValuedAttr<F64Attr, "1e-6">:$atol, DefaultValuedAttr<F64Attr, "1e-5">:$rtol);
  let assemblyFormat = "$got `is` $value `by` custom<Names>($order) attr-dict `:` type($got)";
}

#endif // HEDDLE_CHECK_OPS_TD
