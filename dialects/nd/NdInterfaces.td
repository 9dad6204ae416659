//===- NdInterfaces.td - interfaces and traits of ops ------*- tablegen -*-===//
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
    backwards and asks each op for the gradients of its operands; an op is asked only if at least one
    of its cotangents is not null and at least one gradient is wanted.
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

//===----------------------------------------------------------------------===//
// Passes ask for these instead of naming ops
//===----------------------------------------------------------------------===//

def Nd_MovesElementsInterface : OpInterface<"MovesElementsInterface"> {
  let cppNamespace = "::heddle::nd";
  let description = [{
    An op whose result has elements of its operands, unchanged, and perhaps a constant: it computes
    nothing. Elements that a window excludes stay excluded.
  }];
  let methods = [
    InterfaceMethod<"The number of operands (the first ones) from which the elements come; the others are "
        "coordinates, or are not read.", "unsigned", "getNumSources", (ins), [{}], [{ return 1; }]>
  ];
}

def Nd_IndexMapInterface : OpInterface<"IndexMapInterface"> {
  let cppNamespace = "::heddle::nd";
  let description = [{
    An op that reads its operand at coordinates that are expressions over the names of its result. Such an op
    folds to its operand if all names map to themselves and the types are equal.
  }];
  let methods = [
    InterfaceMethod<"Where the op reads its operand; none if no expression says it (a merge of names "
        "whose sizes are not constant).", "std::optional<::heddle::nd::IndexMap>", "getIndexMap">,
    InterfaceMethod<"Sets the element that the op has where it does not read its operand.", "void", "setOutside",
        (ins "::mlir::TypedAttr":$value), [{}], [{ return; }]>
  ];
  let extraTraitClassDeclaration = [{
    static ::mlir::OpFoldResult foldTrait(::mlir::Operation *op, ::llvm::ArrayRef<::mlir::Attribute>) {
      return ::heddle::nd::foldIndexMap(op);
    }
  }];
}

def Nd_IndexedAccessInterface : OpInterface<"IndexedAccessInterface"> {
  let cppNamespace = "::heddle::nd";
  let description = [{ An op that accesses a tensor at coordinates that it gets as operands. }];
  let methods = [
    InterfaceMethod<"One access for each operand of coordinates.",
        "::llvm::SmallVector<::heddle::nd::IndexedAccess>", "getAccesses">
  ];
}

def Nd_SizeConditionsInterface : OpInterface<"SizeConditionsInterface"> {
  let cppNamespace = "::heddle::nd";
  let description = [{ An op that needs more of sizes than that the sizes of its results are not negative. }];
  let methods = [
    InterfaceMethod<"What sizes must fulfil; with constant sizes the verifier has checked it.",
        "::llvm::SmallVector<::heddle::nd::SizeCondition>", "getSizeConditions">
  ];
}

def Nd_AlignedOperandsInterface : OpInterface<"AlignedOperandsInterface"> {
  let cppNamespace = "::heddle::nd";
  let description = [{
    An op some of whose operands have the same names, but for those that the op is about. Lifting broadcasts
    them to the names of each other.
  }];
  let methods = [
    InterfaceMethod<"The number of these operands, the first ones.", "unsigned", "getNumAligned", (ins), [{}],
        [{ return $_op->getNumOperands(); }]>
  ];
}

class Nd_Trait<string name> : NativeOpTrait<name> { let cppNamespace = "::heddle::nd"; }

/// Each element of the result is computed from the elements of the operands at the same point.
def Nd_Elementwise : Nd_Trait<"Elementwise">;
/// The op costs more than reading its operands: its results are kept rather than computed again.
def Nd_Expensive : Nd_Trait<"Expensive">;
/// No pass looks through the op, although it has the value of its first operand.
def Nd_Opaque : Nd_Trait<"Opaque">;

/// In a public function arguments tell the symbols of all sizes (S11).
def Nd_ToldSymbols : NativeOpTrait<"ToldSymbols"> { let cppNamespace = "::heddle::nd"; }

#endif // HEDDLE_ND_INTERFACES_TD
