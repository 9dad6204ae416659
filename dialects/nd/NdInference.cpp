//===- NdInference.cpp - type inference -----------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdInference.h"

#include "dialects/nd/NdInferenceNames.h"
#include "runtime/expr/Layout.h"

#include "llvm/ADT/StringSet.h"

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

std::string nd::namesText(ArrayRef<Dim> dims) {
  std::string text = "{";
  for (const Dim &dim : dims)
    text += (text.size() > 1 ? ", " : "") + dim.name.str() + ": " + dim.size().getExpr().str();
  return text + "}";
}

SmallVector<StringRef> nd::stringsOf(ArrayAttr names) {
  return llvm::to_vector(names.getAsValueRange<StringAttr>());
}

void nd::noteOperands(InFlightDiagnostic &error, ValueRange operands) {
  llvm::SmallDenseSet<Type> noted;
  for (auto [i, operand] : llvm::enumerate(operands))
    if (noted.size() < 8 && noted.insert(operand.getType()).second)
      error.attachNote(operand.getLoc()) << "operand " << i << " is of type " << operand.getType();
}

InFlightDiagnostic nd::operandError(Operation *op) {
  InFlightDiagnostic error = op->emitOpError();
  noteOperands(error, op->getOperands());
  return error;
}

void nd::noteDefinition(InFlightDiagnostic &error, func::FuncOp definition) {
  error.attachNote(definition.getLoc()) << "'@" << definition.getName() << "' is defined here";
}

FailureOr<DimsAttr> nd::unionOfNames(MLIRContext *context, ArrayRef<NdTensorType> types,
                                     EmitError emitError) {
  SmallVector<Dim> dims;
  SmallVector<NdTensorType> owner;
  for (NdTensorType type : types) {
    for (const Dim &dim : type.getDims()) {
      auto *known = llvm::find_if(dims, [&](const Dim &other) { return other.name == dim.name; });
      if (known == dims.end()) {
        dims.push_back(dim);
        owner.push_back(type);
      } else if (known->sizeAttr != dim.sizeAttr) { // S3
        StringRef name = dim.name.getValue();
        InFlightDiagnostic error = emitError() << "the name '" << name << "' has size "
                                               << known->size().getExpr().str() << " in "
                                               << namesText(owner[known - dims.begin()].getDims())
                                               << " and size " << dim.size().getExpr().str()
                                               << " in " << namesText(type.getDims());
        if (mayEqual(known->size().getExpr(), dim.size().getExpr()))
          error << "; nd.split of '" << name << "' into [" << name
                << "] says that they are the same number, which is checked on entry";
        return failure();
      }
    }
  }
  return DimsAttr::getSorted(context, dims);
}

LogicalResult nd::requireName(NdTensorType type, StringRef name, EmitError emitError) {
  if (type.has(name))
    return success();
  return emitError() << "unknown name '" << name << "'; the tensor has "
                     << namesText(type.getDims());
}

LogicalResult nd::requireNew(ArrayRef<Dim> dims, StringRef name, EmitError emitError) {
  if (llvm::none_of(dims, [&](const Dim &dim) { return dim.name.getValue() == name; }))
    return success();
  // S1
  return emitError() << "the name '" << name << "' would occur twice; the other names are "
                     << namesText(dims);
}

LogicalResult nd::requireSize(StringRef name, double size, EmitError emitError) {
  if (size >= 0 && size <= 0x1p60)
    return success();
  return emitError() << "expected a size of 0 to 2^60 for '" << name << "', got "
                     << (size < 0 ? std::to_string(int64_t(std::max(size, -0x1p62))) : "more");
}

LogicalResult nd::requireTerms(StringRef name, const Expr &size, EmitError emitError) {
  if (!size.isTooLarge())
    return success();
  return emitError() << "expected " << Expr::limits() << " for '" << name << "', got more";
}

double nd::magnitude(const Expr &expr, llvm::function_ref<double(const std::string &)> of) {
  double sum = std::abs(double(expr.offset()));
  for (const Expr::Term &term : expr.terms()) {
    double product = std::abs(double(term.coefficient));
    for (const Expr::AtomRef &atom : term.factors) {
      double factor = atom->kind == Expr::Atom::Kind::Name ? of(atom->name) : 0;
      for (const Expr &operand : atom->operands) // bounds a quotient or a remainder, too
        factor = std::max(factor, magnitude(operand, of));
      product *= factor;
    }
    sum += product;
  }
  return sum;
}

LogicalResult nd::requireSubstituted(StringRef name, const Expr &expr, const ExprMap &symbols,
                                     EmitError emitError) {
  double most = magnitude(expr, [&](const std::string &symbol) {
    auto with = symbols.find(symbol);
    return with == symbols.end() ? 1.0 : std::max(magnitude(with->second), 1.0);
  });
  Expr size = expr.substitute(symbols);
  auto number = size.constant();
  if (failed(requireTerms(name, size, emitError)))
    return failure();
  return requireSize(name, number && most <= 0x1p60 ? double(*number) : most, emitError);
}

bool nd::mayEqual(const Expr &a, const Expr &b) {
  Expr difference = a - b;
  Ranges any;
  for (const std::string &symbol : difference.names())
    any[symbol] = {0, largestSymbol};
  auto bounds = difference.bounds(any);
  return !bounds || (bounds->low <= 0 && bounds->high >= 0);
}

SmallVector<Dim> nd::others(NdTensorType type, StringRef name) {
  return SmallVector<Dim>(type.without(name).getDims().getDims());
}

FailureOr<DimsAttr> nd::withoutNames(NdTensorType type, Strings names, EmitError emitError) {
  llvm::StringSet<> removed;
  for (StringRef name : names) {
    if (failed(requireName(type, name, emitError)))
      return failure();
    if (!removed.insert(name).second)
      return LogicalResult(emitError() << "the name '" << name << "' is listed twice");
  }
  return type.getDims().where([&](const Dim &dim) { return !removed.contains(dim.name); });
}

bool nd::isCrossed(ArrayRef<NdTensorType> types) {
  SmallVector<NdTensorType> open;
  for (NdTensorType type : types)
    if (type.getDims().size() != 0)
      open.push_back(type);
  if (open.empty())
    return false;
  // Grow the set of the first operand by all operands that share a name with it.
  llvm::StringSet<> names;
  for (bool grown = true; grown;) {
    grown = false;
    for (auto *type = open.begin(); type != open.end(); ++type) {
      if (!names.empty() &&
          llvm::none_of(type->getDims(), [&](const Dim &dim) { return names.contains(dim.name); }))
        continue;
      for (const Dim &dim : type->getDims())
        names.insert(dim.name);
      open.erase(type);
      grown = true;
      break;
    }
  }
  return !open.empty();
}

FailureOr<NdTensorType> nd::inferPointwise(Type resultElement, ArrayRef<NdTensorType> types,
                                           bool crossed, EmitError emitError) {
  FailureOr<DimsAttr> dims = unionOfNames(resultElement.getContext(), types, emitError);
  if (failed(dims))
    return failure();
  // S2
  if (!crossed && isCrossed(types)) {
    InFlightDiagnostic error = emitError() << "expected operands that share a name, got ";
    llvm::interleave(
        types, [&](NdTensorType type) { error << namesText(type.getDims()); },
        [&] { error << " and "; });
    return LogicalResult(
        error << "; an outer product is written with 'crossed', or as an explicit broadcast");
  }
  return NdTensorType::get(resultElement.getContext(), resultElement, *dims);
}

FailureOr<NdTensorType> nd::inferReduce(NdTensorType input, Strings names, EmitError emitError) {
  if (names.empty())
    return LogicalResult(emitError() << "expected names to reduce over; the tensor has "
                                     << namesText(input.getDims()));
  FailureOr<DimsAttr> dims = withoutNames(input, names, emitError);
  if (failed(dims))
    return failure();
  return NdTensorType::get(input.getContext(), input.getElementType(), *dims);
}

FailureOr<NdTensorType> nd::inferScan(NdTensorType input, StringRef name, EmitError emitError) {
  if (failed(requireName(input, name, emitError)))
    return failure();
  return input;
}

FailureOr<NdTensorType> nd::inferRandom(NdTensorType key, ArrayRef<Dim> order,
                                        EmitError emitError) {
  if (!key.getElementType().isUnsignedInteger(64))
    return LogicalResult(emitError() << "expected a key of element type ui64, got " << key);
  SmallVector<Dim> dims(key.getDims().getDims());
  for (const Dim &dim : order) {
    if (failed(requireNew(dims, dim.name.getValue(), emitError)))
      return failure();
    dims.push_back(dim);
  }
  return NdTensorType::get(IntegerType::get(key.getContext(), 32, IntegerType::Unsigned), dims);
}

static bool isTooLong(const Expr &size, const Expr &whole) {
  auto part = size.constant(), all = whole.constant();
  return (part && *part < 0) || (part && all && *part > *all);
}

static LogicalResult requireAtMost(const Expr &size, NdTensorType input, StringRef name,
                                   EmitError emitError) {
  if (!isTooLong(size, input.size(name).getExpr()))
    return success();
  if (size.constant() && *size.constant() < 0)
    return emitError() << "expected at least 0 elements of '" << name << "', got " << size.str();
  return emitError() << "expected at most the size of '" << name << "', "
                     << input.size(name).getExpr().str() << ", got " << size.str();
}

FailureOr<NdTensorType> nd::inferDynamicSlice(NdTensorType input, NdTensorType start,
                                              StringRef name, const Expr &size,
                                              EmitError emitError) {
  if (failed(requireName(input, name, emitError)))
    return failure();
  if (!isa<IntegerType>(start.getElementType()) || start.has(name))
    return LogicalResult(emitError() << "expected a start of integer elements without the name '"
                                     << name << "', got " << start);
  if (failed(requireAtMost(size, input, name, emitError)))
    return failure();
  SmallVector<Dim> dims = others(input, name);
  dims.emplace_back(input.getContext(), name, size);
  FailureOr<DimsAttr> all =
      unionOfNames(input.getContext(), {input.withDims(dims), start}, emitError);
  if (failed(all))
    return failure();
  return input.withDims(all->getDims());
}

FailureOr<NdTensorType> nd::inferUpdateSlice(NdTensorType part, NdTensorType destination,
                                             NdTensorType start, StringRef name,
                                             EmitError emitError) {
  if (failed(requireName(destination, name, emitError)) ||
      failed(requireName(part, name, emitError)))
    return failure();
  SmallVector<Dim> rest = others(destination, name);
  bool zipped =
      llvm::all_of(start.getDims(), [&](const Dim &dim) { return llvm::is_contained(rest, dim); });
  if (!isa<IntegerType>(start.getElementType()) || !zipped)
    return LogicalResult(emitError()
                         << "expected a start of integer elements with some of the names "
                         << namesText(rest) << ", got " << start);
  if (part.getElementType() != destination.getElementType() || others(part, name) != rest ||
      isTooLong(part.size(name).getExpr(), destination.size(name).getExpr()))
    return LogicalResult(emitError() << "expected a part of type " << destination
                                     << " with at most as many '" << name << "', got " << part);
  return destination;
}

FailureOr<SmallVector<NdTensorType>> nd::inferSort(ArrayRef<NdTensorType> inputs, StringRef name,
                                                   const Expr &size, EmitError emitError) {
  if (inputs.empty())
    return LogicalResult(emitError() << "expected an operand");
  SmallVector<NdTensorType> results;
  for (NdTensorType input : inputs) {
    if (failed(requireName(input, name, emitError)))
      return failure();
    if (input.getDims() != inputs[0].getDims())
      return LogicalResult(emitError() << "expected operands with the same names and sizes, got "
                                       << namesText(inputs[0].getDims()) << " and "
                                       << namesText(input.getDims()));
    if (failed(requireAtMost(size, input, name, emitError)))
      return failure();
    SmallVector<Dim> dims = others(input, name);
    dims.emplace_back(input.getContext(), name, size);
    results.push_back(input.withDims(dims));
  }
  return results;
}

LogicalResult nd::verifySort(Operation *op, StringRef name, EmitError emitError) {
  auto typesOf = [](TypeRange types) {
    return llvm::map_to_vector(types, [](Type type) { return cast<NdTensorType>(type); });
  };
  SmallVector<NdTensorType> inputs = typesOf(op->getOperandTypes()),
                            results = typesOf(op->getResultTypes());
  SizeAttr size = results.empty() ? SizeAttr() : results[0].size(name);
  if (!size)
    return emitError() << "expected results with the name '" << name << "', got "
                       << op->getResultTypes();
  FailureOr<SmallVector<NdTensorType>> inferred =
      inferSort(inputs, name, size.getExpr(), emitError);
  if (failed(inferred))
    return failure();
  if (results != *inferred)
    return emitError() << "expected results of types " << *inferred << ", got "
                       << op->getResultTypes();
  return success();
}

FailureOr<NdTensorType> nd::inferGather(NdTensorType input, ArrayRef<NdTensorType> indices,
                                        Strings names, EmitError emitError) {
  if (names.size() != indices.size())
    return LogicalResult(emitError() << "expected one index tensor for each of " << names.size()
                                     << " names, got " << indices.size());
  FailureOr<DimsAttr> rest = withoutNames(input, names, emitError);
  if (failed(rest))
    return failure();
  SmallVector<NdTensorType> all{
      NdTensorType::get(input.getContext(), input.getElementType(), *rest)};
  for (NdTensorType index : indices) {
    if (!isa<IntegerType>(index.getElementType()))
      return LogicalResult(emitError() << "expected an index of integer elements, got " << index);
    all.push_back(index);
  }
  // S5: names shared by the input and an index, or by two indices, have one size
  FailureOr<DimsAttr> dims = unionOfNames(input.getContext(), all, emitError);
  if (failed(dims))
    return failure();
  return NdTensorType::get(input.getContext(), input.getElementType(), *dims);
}
