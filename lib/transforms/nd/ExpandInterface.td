//===- ExpandInterface.td - expansion of extension ops -----*- tablegen -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_ND_EXPANDINTERFACE_TD
#define HEDDLE_TRANSFORMS_ND_EXPANDINTERFACE_TD

include "mlir/IR/OpBase.td"

def Nd_ExpandInterface : OpInterface<"ExpandInterface"> {
  let cppNamespace = "::heddle::nd";
  let description = [{
    An op of another dialect that the compiler expands into ops of nd and nest. The pass `nd-expand` does so
    after `nd-differentiate`.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds a value of the same type for each result. Emits an error and fails if it can't.
    }], "::mlir::LogicalResult", "expand",
    (ins "::mlir::OpBuilder &":$builder, "::llvm::SmallVectorImpl<::mlir::Value> &":$results)>
  ];
}

#endif // HEDDLE_TRANSFORMS_ND_EXPANDINTERFACE_TD
