//===- MeaningInterface.td - meanings of extension ops -----*- tablegen -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_INTERP_MEANINGINTERFACE_TD
#define HEDDLE_INTERP_MEANINGINTERFACE_TD

include "mlir/IR/OpBase.td"

def Interp_MeaningInterface : OpInterface<"MeaningInterface"> {
  let cppNamespace = "::heddle::interp";
  let description = [{
    An op of another dialect that the oracle evaluates by its own definition.
  }];
  let methods = [
    InterfaceMethod<[{
      Sets the elements of the results, given those of the operands. `results` have their types,
      with sizes as numbers, and no elements yet. `arithmetic` computes with error bounds. Emits an
      error and fails where the op has no value.
    }], "::mlir::LogicalResult", "evaluate",
    (ins "::llvm::ArrayRef<const ::heddle::interp::TensorValue *>":$operands,
         "::llvm::MutableArrayRef<::heddle::interp::TensorValue>":$results,
         "::heddle::interp::Arithmetic &":$arithmetic)>
  ];
}

#endif // HEDDLE_INTERP_MEANINGINTERFACE_TD
