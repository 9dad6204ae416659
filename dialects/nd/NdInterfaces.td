//===- NdInterfaces.td - interfaces and traits of ops ------*- tablegen -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ND_INTERFACES_TD
#define HEDDLE_ND_INTERFACES_TD

include "mlir/IR/OpBase.td"

class Nd_Interface<string name> : OpInterface<name> { let cppNamespace = "::heddle::nd"; }

def Nd_DifferentiableInterface : Nd_Interface<"DifferentiableInterface"> {
  let description = [{
    An op with a reverse-mode derivative. The pass `nd-differentiate` visits the ops of a function in reverse order and
    calls `buildGradient` for each op that has a non-null cotangent and a wanted gradient.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the gradients of the operands from the cotangents of the results. A null cotangent is zero. `gradients` has
      one null value for each operand; the method sets those of operands that have a gradient, to a value of the
      operand's type. An operand of integers, or one that does not affect the results, has none. `wanted[i]` is false if
      the gradient of operand i is not needed; it should remain null. The operands and results of the op may be used.
      Emits an error and fails if the op can't be differentiated.
    }], "::mlir::LogicalResult", "buildGradient",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$cotangents,
         "::llvm::ArrayRef<bool>":$wanted, "::llvm::SmallVectorImpl<::mlir::Value> &":$gradients)>
  ];
}

//===----------------------------------------------------------------------===//
// Properties that passes query instead of naming ops
//===----------------------------------------------------------------------===//

def Nd_LiteralInterface : Nd_Interface<"LiteralInterface"> {
  let description = [{
    An op without operands whose attributes hold its elements. Passes clone, move and compare such ops freely;
    `splatOf` returns the value of all elements if they are equal. (MLIR's trait `ConstantLike` does not fit: its
    constants are equal if one attribute is, and are moved to the entry of a function. The elements here also have an
    order, and the op stays next to its uses.)
  }];
  let methods = [
    InterfaceMethod<"The elements, row-major in the order of the names; a splat may have any shape.",
        "::mlir::ElementsAttr", "getValue">,
    InterfaceMethod<"The names of the result in the order of the elements.", "::mlir::ArrayAttr", "getOrder">
  ];
}

def Nd_ScalarCodeInterface : Nd_Interface<"ScalarCodeInterface"> {
  let description = [{
    An op that computes each element of its result by scalar code from the operands' elements at the same point. The
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

def Nd_ReductionInterface : Nd_Interface<"ReductionInterface"> {
  let description = [{
    An op that combines all elements along names, or every prefix of them, by an associative region.
  }];
  let methods = [
    InterfaceMethod<"The region, from accumulators and elements to accumulators.", "::mlir::Region &", "getCombiner">,
    InterfaceMethod<"The neutral element of each accumulator.", "::mlir::ArrayAttr", "getNeutral">,
    InterfaceMethod<"The names that operands have and results lack, in any order; null if there are none.",
        "::mlir::ArrayAttr", "getReducedNames", (ins), [{}], [{ return {}; }]>
  ];
}

def Nd_CalleeInterface : Nd_Interface<"CalleeInterface"> {
  let description = [{
    An op that refers to a function: a call, or a request for derivatives.
  }];
  let methods = [
    InterfaceMethod<"The function.", "::mlir::FlatSymbolRefAttr", "getCalleeAttr">,
    InterfaceMethod<"Sets the function.", "void", "setCalleeAttr", (ins "::mlir::FlatSymbolRefAttr":$callee)>,
    InterfaceMethod<"The arguments of the function.", "::mlir::OperandRange", "getInputs">,
    InterfaceMethod<"True if the function is lifted over names that arguments have and formals lack.", "bool", "lifts",
        (ins), [{}], [{ return false; }]>
  ];
}

def Nd_MovesElementsInterface : Nd_Interface<"MovesElementsInterface"> {
  let description = [{
    An op that computes nothing: the elements of its result are elements of its operands or a constant. Taps that a
    window excludes remain excluded.
  }];
  let methods = [
    InterfaceMethod<"The number of operands (the first ones) that provide the elements; the others are "
        "coordinates, or are not read.", "unsigned", "getNumSources", (ins), [{}], [{ return 1; }]>
  ];
}

def Nd_IndexMapInterface : Nd_Interface<"IndexMapInterface"> {
  let description = [{
    An op that reads its operand at coordinates that are expressions over the names of its result. Such an op
    folds to its operand if all names map to themselves and the types are equal.
  }];
  let methods = [
    InterfaceMethod<"The index map by which the op reads its operand; none if there is no such expression (a merge "
        "of names whose sizes are not constant).", "std::optional<::heddle::nd::IndexMap>", "getIndexMap">,
    InterfaceMethod<"Sets the value of elements for which the op does not read its operand.", "void", "setOutside",
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

def Nd_IndexedAccessInterface : Nd_Interface<"IndexedAccessInterface"> {
  let description = [{ An op that accesses a tensor at coordinates that are operands. }];
  let methods = [
    InterfaceMethod<"One access for each operand that holds coordinates.",
        "::llvm::SmallVector<::heddle::nd::IndexedAccess>", "getAccesses">
  ];
}

def Nd_SizeConditionsInterface : Nd_Interface<"SizeConditionsInterface"> {
  let description = [{ An op that has conditions on sizes, besides that no size of a result is negative. }];
  let methods = [
    InterfaceMethod<"The conditions on sizes; the verifier checks them where sizes are constant.",
        "::llvm::SmallVector<::heddle::nd::SizeCondition>", "getSizeConditions">
  ];
}

def Nd_AlignedOperandsInterface : Nd_Interface<"AlignedOperandsInterface"> {
  let description = [{
    An op whose first operands must have the same names, apart from those that the op's attributes list. Lifting
    broadcasts each of them over the lifted names of the others.
  }];
  let methods = [
    InterfaceMethod<"The number of these operands.", "unsigned", "getNumAligned", (ins), [{}],
        [{ return $_op->getNumOperands(); }]>
  ];
}

class Nd_Trait<string name> : NativeOpTrait<name> { let cppNamespace = "::heddle::nd"; }

/// Each element of the result is computed from the elements of the operands at the same point.
def Nd_Elementwise : Nd_Trait<"Elementwise">;
/// The op costs more than reading its operands: passes store its results instead of recomputing
/// them.
def Nd_Expensive : Nd_Trait<"Expensive">;
/// Passes do not look through the op, although its value is that of its first operand.
def Nd_Opaque : Nd_Trait<"Opaque">;

/// Verifies that arguments determine the symbols of all sizes in a public function (S11).
def Nd_KnownSymbols : NativeOpTrait<"KnownSymbols"> { let cppNamespace = "::heddle::nd"; }

#endif // HEDDLE_ND_INTERFACES_TD
