//===- NdInterfaces.td - what passes ask of ops ------------*- tablegen -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ND_INTERFACES_TD
#define HEDDLE_ND_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Nd_DifferentiableInterface : OpInterface<"DifferentiableInterface"> {
  let cppNamespace = "::heddle::nd";
  let description = [{
    An op with a reverse-mode derivative. The differentiation pass walks a function
    backwards and asks each op for the gradients of its operands.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the gradients of the operands, given those of the results. `gradients`
      comes with one null value for each operand, of which those that exist are
      replaced. A null cotangent means zero; a null gradient says that the operand has none (integer
      values, operands that do not matter). `wanted[i]` is false where the gradient
      of operand i is not asked for and should be left null. Each gradient has the
      type of its operand. Values of the forward op (operands and results) may be used.
      Emits an error and fails where the op cannot be differentiated.
    }], "::mlir::LogicalResult", "buildGradient",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$cotangents,
         "::llvm::ArrayRef<bool>":$wanted, "::llvm::SmallVectorImpl<::mlir::Value> &":$gradients)>
  ];
}

/// In a public function arguments tell the symbols of all sizes (S11).
def Nd_ToldSymbols : NativeOpTrait<"ToldSymbols"> { let cppNamespace = "::heddle::nd"; }

#endif // HEDDLE_ND_INTERFACES_TD
