//===- NdDialect.td - named-dimension tensors --------------*- tablegen -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ND_DIALECT_TD
#define HEDDLE_ND_DIALECT_TD

include "mlir/IR/OpBase.td"

def Nd_Dialect : Dialect {
  let name = "nd";
  let cppNamespace = "::heddle::nd";
  let summary = "Tensors whose dimensions have names and no order";
  let description = [{
    A value of this dialect is a function from named coordinates to scalars. Its dimensions have no order: neither an
    order in memory nor one in the text, where names may be written in any order.

    A function may declare the ranges of its size symbols:

    ```mlir
    func.func @f(%x: !nd.tensor<f32, row: 8 * N>) attributes {nd.ranges = {N = [1, 512]}}
    ```

    The compiler uses the ranges, and a call with a size out of range is an error. A multiple of a number is written as
    such, `8 * N`.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

#endif // HEDDLE_ND_DIALECT_TD
