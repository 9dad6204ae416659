//===- NdTypes.cpp - sizes, dimensions and the tensor type ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/ElementTypes.h"
#include "dialects/nd/Nd.h"
#include "dialects/nd/NdTypical.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace heddle::nd {

std::optional<ElementType> elementTypeOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return parseElementType(text);
}

Type mlirType(MLIRContext *context, ElementType element) {
  switch (element) {
  case ElementType::I1:
    return IntegerType::get(context, 1);
  case ElementType::F16:
    return Float16Type::get(context);
  case ElementType::BF16:
    return BFloat16Type::get(context);
  case ElementType::F32:
    return Float32Type::get(context);
  case ElementType::F64:
    return Float64Type::get(context);
  case ElementType::F8E4M3FN:
    return Float8E4M3FNType::get(context);
  case ElementType::F8E5M2:
    return Float8E5M2Type::get(context);
  default:
    return IntegerType::get(context, unsigned(byteSize(element)) * 8,
                            spelling(element)[0] == 'u' ? IntegerType::Unsigned
                                                        : IntegerType::Signless);
  }
}

Dim::Dim(StringAttr name, SizeAttr size) : name(name), sizeAttr(size) {}
Dim::Dim(MLIRContext *context, StringRef name, const Expr &size)
    : name(StringAttr::get(context, name)), sizeAttr(SizeAttr::get(context, size)) {}
SizeAttr Dim::size() const { return cast<SizeAttr>(sizeAttr); }

DimsAttr DimsAttr::getSorted(MLIRContext *context, ArrayRef<Dim> dims) {
  SmallVector<Dim> sorted(dims);
  llvm::sort(sorted,
             [](const Dim &a, const Dim &b) { return a.name.getValue() < b.name.getValue(); });
  return DimsAttr::get(context, sorted);
}

LogicalResult DimsAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<Dim> dims) {
  for (size_t i = 1; i < dims.size(); ++i) {
    if (dims[i - 1].name == dims[i].name)
      // S1
      return emitError() << "the name '" << dims[i].name.getValue() << "' occurs twice";
    if (dims[i - 1].name.getValue() > dims[i].name.getValue())
      return emitError() << "expected names in sorted order";
  }
  for (const Dim &dim : dims)
    if (auto size = dim.size().constant(); size && *size < 0)
      return emitError() << "expected a size of at least 0 for '" << dim.name.getValue()
                         << "', got " << *size;
  return success();
}

SizeAttr DimsAttr::lookup(StringRef name) const {
  const Dim *found = llvm::lower_bound(getDims(), name, [](const Dim &dim, StringRef wanted) {
    return dim.name.getValue() < wanted;
  });
  return found != getDims().end() && found->name.getValue() == name ? found->size() : SizeAttr();
}

LogicalResult NdTensorType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                   Type elementType, DimsAttr dims) {
  if (auto integer = dyn_cast<IntegerType>(elementType)) {
    unsigned width = integer.getWidth();
    if (width != 1 && width != 8 && width != 16 && width != 32 && width != 64)
      return emitError() << "expected an integer element type of 1, 8, 16, 32 or 64 bits, got "
                         << elementType;
    if (integer.isSigned())
      return emitError() << "expected i" << width << " for signed elements, got " << elementType;
    return success();
  }
  if (isa<Float8E4M3FNType, Float8E5M2Type, Float16Type, BFloat16Type, Float32Type, Float64Type>(
          elementType))
    return success();
  return emitError() << "unsupported element type " << elementType
                     << "; expected f8E4M3FN, f8E5M2, f16, bf16, f32, f64, i1 or an integer of 8 "
                        "to 64 bits";
}

NdTensorType NdTensorType::get(Type elementType, ArrayRef<Dim> dims) {
  MLIRContext *context = elementType.getContext();
  return get(context, elementType, DimsAttr::getSorted(context, dims));
}

bool isNarrowFloat(Type elementType) {
  auto real = dyn_cast<FloatType>(elementType);
  return real && real.getWidth() < 32;
}

Type signless(Type elementType) {
  if (auto integer = dyn_cast<IntegerType>(elementType); integer && !integer.isSignless())
    return IntegerType::get(elementType.getContext(), integer.getWidth());
  return elementType;
}

Type NdTensorType::scalarType() const { return signless(getElementType()); }

bool NdTensorType::isStatic() const {
  return llvm::all_of(getDims(), [](const Dim &dim) { return dim.size().constant().has_value(); });
}

int64_t NdTensorType::elements() const {
  int64_t count = 1;
  for (const Dim &dim : getDims()) {
    if (!dim.size().constant())
      return -1;
    count *= *dim.size().constant();
  }
  return count;
}

Sizes NdTensorType::sizes() const {
  Sizes sizes;
  for (const Dim &dim : getDims())
    sizes[dim.name.str()] = dim.size().typical();
  return sizes;
}

ExprMap NdTensorType::sizeExprs() const {
  ExprMap sizes;
  for (const Dim &dim : getDims())
    sizes[dim.name.str()] = dim.size().getExpr();
  return sizes;
}

int64_t SizeAttr::most() const {
  if (auto known = constant())
    return *known;
  Ranges ranges;
  for (const std::string &name : getExpr().names())
    ranges[name] = {0, largestSymbol};
  auto bounds = getExpr().bounds(ranges);
  return bounds ? std::min(bounds->high, INT64_MAX / 2) : INT64_MAX / 2;
}

std::string neutralSymbol(size_t number, const heddle::Range &range) {
  std::string name = "size" + std::to_string(number) + "_";
  if (range != heddle::Range{0, largestSymbol})
    name += std::to_string(range.low) + "_" + std::to_string(range.high) + "_";
  return name;
}

std::optional<heddle::Range> rangeOfNeutral(std::string_view symbol) {
  SmallVector<StringRef> parts;
  StringRef(symbol).split(parts, '_');
  heddle::Range range;
  bool tells = parts.size() == 4 && parts[0].starts_with("size") && parts[3].empty() &&
               !parts[1].getAsInteger(10, range.low) && !parts[2].getAsInteger(10, range.high) &&
               range.low <= range.high;
  return tells ? std::optional(range) : std::nullopt;
}

int64_t typicalOf(std::string_view symbol) {
  auto range = rangeOfNeutral(symbol);
  return range ? std::clamp(typicalSymbol, range->low, range->high) : typicalSymbol;
}

int64_t SizeAttr::typical() const {
  if (auto known = constant())
    return *known;
  // A loop variable counts as 0.
  auto value = getExpr().evaluate(
      [](const std::string &name) { return name.back() == '$' ? 0 : typicalOf(name); });
  return value ? std::max<int64_t>(*value, 1) : typicalSymbol;
}

DimsAttr DimsAttr::where(function_ref<bool(const Dim &)> keeps) const {
  return get(getContext(), llvm::filter_to_vector(getDims(), keeps));
}

DimsAttr DimsAttr::with(ArrayRef<Dim> more) const {
  SmallVector<Dim> all(getDims());
  llvm::copy_if(more, std::back_inserter(all), [&](const Dim &dim) { return !contains(dim.name); });
  return getSorted(getContext(), all);
}

NdTensorType NdTensorType::withElementType(Type type) const {
  return get(getContext(), type, getDims());
}
NdTensorType NdTensorType::withDims(ArrayRef<Dim> dims) const {
  return get(getElementType(), dims);
}

bool keepsPrecision(Operation *cast) {
  if (!isa<arith::ExtFOp, arith::TruncFOp>(cast))
    return false;
  auto flags = llvm::cast<arith::ArithFastMathInterface>(cast).getFastMathFlagsAttr();
  return flags && bitEnumContainsAll(flags.getValue(), arith::FastMathFlags::contract);
}

void keepPrecision(Operation *cast) {
  auto flags = arith::FastMathFlagsAttr::get(cast->getContext(), arith::FastMathFlags::contract);
  cast->setAttr(llvm::cast<arith::ArithFastMathInterface>(cast).getFastMathAttrName(), flags);
}

bool isScalarOp(Operation *op) {
  if (op->getNumRegions() != 0 || op->getNumResults() != 1)
    return false;
  auto isScalar = [](Type type) { return type.isIntOrIndexOrFloat(); };
  if (!llvm::all_of(op->getOperandTypes(), isScalar) || !isScalar(op->getResult(0).getType()))
    return false;
  return isa<
      // Constants and integers.
      arith::ConstantOp, arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivSIOp,
      arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp,
      arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp, arith::MaxSIOp, arith::MaxUIOp, arith::MinSIOp,
      arith::MinUIOp, arith::CmpIOp,
      // Floats.
      arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::RemFOp, arith::NegFOp,
      arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp, arith::CmpFOp,
      // Choices and conversions.
      arith::SelectOp, arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::ExtUIOp,
      arith::TruncIOp, arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp, arith::FPToUIOp,
      arith::IndexCastOp, arith::IndexCastUIOp, arith::BitcastOp,
      // Functions.
      math::AbsFOp, math::AbsIOp, math::AcoshOp, math::AsinhOp, math::AtanOp, math::AtanhOp,
      math::CeilOp, math::CosOp, math::CoshOp, math::ErfOp, math::ErfcOp, math::ExpOp, math::Exp2Op,
      math::ExpM1Op, math::FloorOp, math::FmaOp, math::LogOp, math::Log10Op, math::Log1pOp,
      math::Log2Op, math::PowFOp, math::RoundEvenOp, math::RsqrtOp, math::SinOp, math::SinhOp,
      math::SqrtOp, math::TanhOp, math::TruncOp>(op);
}

} // namespace heddle::nd
