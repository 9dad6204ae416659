//===- NdTypes.td - the tensor type ------------------------*- tablegen -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ND_TYPES_TD
#define HEDDLE_ND_TYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "dialects/nd/NdAttrs.td"

def Nd_TensorType : TypeDef<Nd_Dialect, "NdTensor"> {
  let mnemonic = "tensor";
  let summary = "a tensor with named dimensions and no order";
  let description = [{
    An element type and a set of names with sizes. The order in which names are written does not matter; they are
    printed sorted. Elements are floats (f64, f32, f16, bf16, f8E5M2, and f8E4M3FN, which has no infinities), booleans
    (i1), or integers of 8 to 64 bits (i8, ui8, ...). Integer types have a signedness; scalar regions use the signless
    type of the same width. Floats of 8 and 16 bits are storage types: computations on them run in f32.

    ```mlir
    !nd.tensor<f32, batch: 64, channel: 3>   !nd.tensor<ui8, row: N, column: N floordiv 2>   !nd.tensor<f32>
    ```
  }];
  let parameters = (ins "::mlir::Type":$elementType, "::heddle::nd::DimsAttr":$dims);
  let builders = [
    TypeBuilderWithInferredContext<(ins "::mlir::Type":$elementType, "::llvm::ArrayRef<Dim>":$dims)>
  ];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The size of `name`, null if the tensor has no such dimension.
    SizeAttr size(::llvm::StringRef name) const { return getDims().lookup(name); }
    bool has(::llvm::StringRef name) const { return bool(size(name)); }
    /// The type of one element inside a scalar region: signless integers.
    ::mlir::Type scalarType() const;
    /// True if no size mentions a symbol.
    bool isStatic() const;
    /// The number of elements; -1 if a size mentions a symbol.
    int64_t elements() const;
    /// The sizes by name, with the typical value for each symbol (`SizeAttr::typical`).
    ::heddle::Sizes sizes() const;
    /// The sizes by name, over symbols.
    ::heddle::ExprMap sizeExprs() const;
    NdTensorType withElementType(::mlir::Type type) const;
    NdTensorType withDims(::llvm::ArrayRef<Dim> dims) const;
    /// The type with only the dimensions for which `keeps` holds.
    NdTensorType where(::llvm::function_ref<bool(const Dim &)> keeps) const {
      return get(getContext(), getElementType(), getDims().where(keeps));
    }
    /// The type with the dimensions of `more` whose names it lacks.
    NdTensorType with(::llvm::ArrayRef<Dim> more) const {
      return get(getContext(), getElementType(), getDims().with(more));
    }
    /// The type with `dims` in place of the dimensions with their names.
    NdTensorType replacing(::llvm::ArrayRef<Dim> dims) const {
      return get(getContext(), getElementType(), getDims().replacing(dims));
    }
    NdTensorType without(::llvm::StringRef name) const {
      return where([&](const Dim &dim) { return dim.name != name; });
    }
  }];
}

// Without a C++ class, so that assembly formats print whole types (`!nd.tensor<...>`).
def Nd_Tensor : Type<CPred<"::llvm::isa<::heddle::nd::NdTensorType>($_self)">, "named tensor">;

#endif // HEDDLE_ND_TYPES_TD
