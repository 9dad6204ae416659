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

def Nd_LiteralInterface : OpInterface<"LiteralInterface"> {
  let cppNamespace = "::heddle::nd";
  let description = [{
    An op without operands whose elements its attributes state. Passes clone, move and compare such ops freely;
    `splatOf` returns the one value of all elements. (The trait `ConstantLike` of MLIR does not fit: its constants
    are equal if one attribute is, and are moved to the entry of a function. The elements here have an order as well,
    and stand where they are used.)
  }];
  let methods = [
    InterfaceMethod<"The elements, row-major in the order of the names; a splat may have any shape.",
        "::mlir::ElementsAttr", "getValue">,
    InterfaceMethod<"The names of the result in the order of the elements.", "::mlir::ArrayAttr", "getOrder">
  ];
}

def Nd_ScalarCodeInterface : OpInterface<"ScalarCodeInterface"> {
  let cppNamespace = "::heddle::nd";
  let description = [{
    An op whose result has, at each point, the value of scalar code on the operands' elements at that point. The
    arguments of the code are these elements, in order.
  }];
  let methods = [
    InterfaceMethod<"The operands.", "::mlir::OperandRange", "getInputs">,
    InterfaceMethod<"The code, one block.", "::mlir::Region &", "getBody">
  ];
  let extraSharedClassDeclaration = [{
    /// The value that the code yields.
    ::mlir::Value yielded() { return $_op.getBody().front().getTerminator()->getOperand(0); }
  }];
}

def Nd_ReductionInterface : OpInterface<"ReductionInterface"> {
  let cppNamespace = "::heddle::nd";
  let description = [{
    An op that combines elements along names by a region, which is promised to be associative: all of them, or
    every prefix of them.
  }];
  let methods = [
    InterfaceMethod<"The region, from accumulators and elements to accumulators.", "::mlir::Region &", "getCombiner">,
    InterfaceMethod<"The neutral element of each accumulator.", "::mlir::ArrayAttr", "getNeutral">,
    InterfaceMethod<"The names that operands have and results lack, in any order; null if there are none.",
        "::mlir::ArrayAttr", "getReducedNames", (ins), [{}], [{ return {}; }]>
  ];
}

def Nd_CalleeInterface : OpInterface<"CalleeInterface"> {
  let cppNamespace = "::heddle::nd";
  let description = [{
    An op that names a function, for whose code it stands: a call, or a request for derivatives.
  }];
  let methods = [
    InterfaceMethod<"The function.", "::mlir::FlatSymbolRefAttr", "getCalleeAttr">,
    InterfaceMethod<"Names another function.", "void", "setCalleeAttr", (ins "::mlir::FlatSymbolRefAttr":$callee)>,
    InterfaceMethod<"The arguments of the function.", "::mlir::OperandRange", "getInputs">,
    InterfaceMethod<"True if the function is lifted over names that arguments have and formals lack.", "bool", "lifts",
        (ins), [{}], [{ return false; }]>
  ];
}

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
        (ins "::mlir::TypedAttr":$value), [{}], [{ return; }]>,
    InterfaceMethod<"The names before and after, if the op changes nothing else; see `renamingOf`.",
        "std::optional<::heddle::nd::Renaming>", "getRenaming", (ins), [{}], [{ return std::nullopt; }]>
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
