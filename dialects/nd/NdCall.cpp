//===- NdCall.cpp - calls that lift the callee ----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdBuild.h"

#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <set>

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

namespace {
using Dependence = SmallVector<llvm::BitVector>;
} // namespace

/// For each result of `callee`, the formals on which it depends. `found` caches functions. Results
/// of a function in a cycle of calls, or too deep in a chain of calls, depend on all formals.
static Dependence dependence(func::FuncOp callee, DenseMap<Operation *, Dependence> &found,
                             unsigned depth = 0) {
  constexpr unsigned deepest = 4000;
  unsigned formals = callee.getNumArguments(), results = callee.getNumResults();
  llvm::BitVector all(formals, true);
  if (callee.isDeclaration() || !llvm::hasSingleElement(callee.getBody()) || depth > deepest)
    return Dependence(results, all);
  auto [entry, isNew] = found.try_emplace(callee, results, all);
  if (!isNew)
    return entry->second;

  DenseMap<Value, llvm::BitVector> known;
  auto of = [&](Value value) {
    auto found = known.find(value);
    return found == known.end() ? llvm::BitVector(formals) : found->second;
  };
  Block &body = callee.getBody().front();
  for (BlockArgument argument : body.getArguments()) {
    known[argument] = llvm::BitVector(formals);
    known[argument].set(argument.getArgNumber());
  }
  for (Operation &op : body.without_terminator()) {
    if (auto call = dyn_cast<CallOp>(op)) {
      auto inner = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
      if (inner && inner.getNumArguments() == call.getInputs().size() &&
          inner.getNumResults() == call.getNumResults()) {
        Dependence nested = dependence(inner, found, depth + 1);
        for (auto [result, formalsOfInner] : llvm::zip_equal(call.getResults(), nested)) {
          llvm::BitVector sum(formals);
          for (unsigned i : formalsOfInner.set_bits())
            sum |= of(call.getInputs()[i]);
          known[result] = sum;
        }
        continue;
      }
    }
    llvm::SetVector<Value> used(op.operand_begin(), op.operand_end());
    getUsedValuesDefinedAbove(op.getRegions(), used);
    llvm::BitVector sum(formals);
    for (Value value : used)
      sum |= of(value);
    for (Value result : op.getResults())
      known[result] = sum;
  }
  Dependence dependences;
  if (body.mightHaveTerminator() && body.getTerminator()->getNumOperands() == results)
    for (Value value : body.getTerminator()->getOperands())
      dependences.push_back(of(value));
  else
    dependences.assign(results, all);
  return found[callee] = dependences;
}

/// Binds the symbols that are the whole size of a formal, then compares all sizes.
static LogicalResult bindSizes(ArrayRef<NdTensorType> formals, ArrayRef<NdTensorType> inputs,
                               ExprMap &symbols, EmitError emitError) {
  for (auto [formal, input] : llvm::zip_equal(formals, inputs)) {
    if (formal.getElementType() != input.getElementType())
      return emitError() << "expected an operand of element type " << formal.getElementType()
                         << ", got " << input;
    for (const Dim &dim : formal.getDims()) {
      SizeAttr size = input.size(dim.name);
      if (!size)
        return emitError() << "expected an operand with the names " << namesText(formal.getDims())
                           << ", got " << namesText(input.getDims());
      if (auto symbol = dim.size().getExpr().asName())
        symbols.try_emplace(*symbol, size.getExpr());
    }
  }
  for (auto [formal, input] : llvm::zip_equal(formals, inputs))
    for (const Dim &dim : formal.getDims()) {
      Expr expected = dim.size().getExpr().substitute(symbols),
           got = input.size(dim.name).getExpr();
      if (failed(requireTerms(dim.name, expected, emitError)))
        return failure();
      // S11
      if (expected != got)
        return emitError() << "expected size " << expected.str() << " for '" << dim.name.getValue()
                           << "' of " << namesText(formal.getDims()) << ", got " << got.str()
                           << " in " << namesText(input.getDims());
    }
  return success();
}

static LogicalResult tensorTypes(TypeRange types, SmallVectorImpl<NdTensorType> &tensors,
                                 StringRef callee, EmitError emitError) {
  for (Type type : types) {
    auto tensor = dyn_cast<NdTensorType>(type);
    if (!tensor)
      return emitError() << "expected a callee on tensors, '@" << callee << "' has " << type;
    tensors.push_back(tensor);
  }
  return success();
}

FailureOr<SmallVector<NdTensorType>>
nd::inferCall(func::FuncOp callee, ArrayRef<NdTensorType> inputs, EmitError emitError) {
  SmallVector<NdTensorType> formals, results;
  if (failed(tensorTypes(callee.getArgumentTypes(), formals, callee.getName(), emitError)) ||
      failed(tensorTypes(callee.getResultTypes(), results, callee.getName(), emitError)))
    return failure();
  if (formals.size() != inputs.size())
    return LogicalResult(emitError() << "expected " << formals.size() << " operands for '@"
                                     << callee.getName() << "', got " << inputs.size());
  ExprMap symbols;
  if (failed(bindSizes(formals, inputs, symbols, emitError)))
    return failure();

  // Find the dimensions over which each operand lifts, and check that they agree.
  SmallVector<NdTensorType> lifted;
  for (auto [formal, input] : llvm::zip_equal(formals, inputs))
    lifted.push_back(input.where([&](const Dim &dim) { return !formal.has(dim.name); }));
  if (failed(unionOfNames(callee.getContext(), lifted, emitError)))
    return failure();

  DenseMap<Operation *, Dependence> found;
  Dependence dependences(results.size());
  if (!llvm::all_of(lifted, [](NdTensorType type) { return type.getDims().size() == 0; }))
    dependences = dependence(callee, found);
  SmallVector<NdTensorType> types;
  for (auto [formal, depends] : llvm::zip_equal(results, dependences)) {
    SmallVector<Dim> dims;
    for (const Dim &dim : formal.getDims()) {
      Expr size = dim.size().getExpr().substitute(symbols);
      if (failed(requireSubstituted(dim.name, dim.size().getExpr(), symbols, emitError)))
        return failure();
      dims.emplace_back(callee.getContext(), dim.name, size);
    }
    llvm::StringSet<> added;
    for (unsigned i : depends.set_bits())
      for (const Dim &dim : lifted[i].getDims()) {
        if (formal.has(dim.name))
          return LogicalResult(emitError() << "the lifted name '" << dim.name.getValue()
                                           << "' of the operand " << namesText(inputs[i].getDims())
                                           << " is a name of the callee's result "
                                           << namesText(formal.getDims()));
        if (added.insert(dim.name).second)
          dims.push_back(dim);
      }
    types.push_back(formal.withDims(dims));
  }
  return types;
}

//===----------------------------------------------------------------------===//
// Verification of symbol uses
//===----------------------------------------------------------------------===//

static func::FuncOp calleeOf(Operation *op, FlatSymbolRefAttr symbol,
                             SymbolTableCollection &tables) {
  auto callee = tables.lookupNearestSymbolFrom<func::FuncOp>(op, symbol);
  if (!callee)
    op->emitOpError() << "'@" << symbol.getValue() << "' is not a function";
  return callee;
}

/// Emits an error of `op` with notes at its operands and at the function that it names.
static InFlightDiagnostic calleeError(Operation *op, func::FuncOp callee) {
  InFlightDiagnostic error = operandError(op);
  noteDefinition(error, callee);
  return error;
}

SmallVector<Type> nd::floatTypes(TypeRange types) {
  SmallVector<Type> floats;
  for (Type type : types)
    if (auto tensor = dyn_cast<NdTensorType>(type);
        tensor && isa<FloatType>(tensor.getElementType()))
      floats.push_back(type);
  return floats;
}

LogicalResult CallOp::verify() {
  if (getCheckpoint() && getGradientAttr()) // c6
    return emitOpError() << "expected 'gradient' or 'checkpoint', got both: with a custom gradient "
                            "no value of the callee is kept";
  return success();
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &tables) {
  func::FuncOp callee = calleeOf(*this, getCalleeAttr(), tables);
  if (!callee)
    return failure();
  SmallVector<NdTensorType> inputs;
  for (Value input : getInputs())
    inputs.push_back(cast<NdTensorType>(input.getType()));
  FailureOr<SmallVector<NdTensorType>> results =
      inferCall(callee, inputs, [&] { return calleeError(*this, callee); }); // c1, c2, c3
  if (failed(results))
    return failure();
  if (results->size() != getNumResults()) // c1
    return calleeError(*this, callee) << "expected " << results->size() << " results of '@"
                                      << getCallee() << "', got " << getNumResults();
  // A pass on the callee may remove the dependence on an operand; the result is then broadcast.
  llvm::StringMap<SizeAttr> lifted;
  for (auto [input, formal] : llvm::zip_equal(inputs, callee.getArgumentTypes()))
    for (const Dim &dim : input.getDims())
      if (!cast<NdTensorType>(formal).has(dim.name))
        lifted[dim.name] = dim.size();
  for (auto [expected, result, formal] :
       llvm::zip_equal(*results, getResults(), callee.getResultTypes())) {
    NdTensorType type = cast<NdTensorType>(result.getType());
    SmallVector<Dim> dims(expected.getDims().begin(), expected.getDims().end());
    for (const Dim &dim : type.getDims())
      if (!expected.has(dim.name) && !cast<NdTensorType>(formal).has(dim.name) &&
          lifted.lookup(dim.name) == dim.size())
        dims.push_back(dim);
    if (type != expected.withDims(dims)) // c4, S8
      return calleeError(*this, callee)
             << "expected a result of type " << expected << ", got " << type;
  }
  if (!getGradientAttr())
    return success();
  func::FuncOp gradient = calleeOf(*this, getGradientAttr(), tables);
  if (!gradient)
    return failure();
  FunctionType type = callee.getFunctionType();
  SmallVector<Type> taken(type.getInputs()), given = floatTypes(type.getInputs());
  llvm::append_range(taken, type.getResults());
  if (gradient.getFunctionType() != FunctionType::get(getContext(), taken, given)) // c5
    return calleeError(*this, gradient)
           << "expected the gradient of '@" << getCallee() << "' to be of type "
           << FunctionType::get(getContext(), taken, given) << ", got "
           << gradient.getFunctionType();
  return success();
}

/// `wrt` lists positions of float arguments once each; their types.
static FailureOr<SmallVector<Type>> typesAt(Operation *op, func::FuncOp callee,
                                            ArrayRef<int64_t> wrt) {
  FunctionType type = callee.getFunctionType();
  SmallVector<Type> types;
  llvm::SmallSet<int64_t, 8> seen;
  for (int64_t position : wrt) {
    if (position < 0 || position >= int64_t(type.getNumInputs()) || !seen.insert(position).second)
      return LogicalResult(calleeError(op, callee)
                           << "expected 'wrt' to list positions of arguments once each, got "
                           << position << " of " << type.getNumInputs());
    types.push_back(type.getInput(position));
    if (!isa<FloatType>(cast<NdTensorType>(types.back()).getElementType()))
      return LogicalResult(calleeError(op, callee)
                           << "expected 'wrt' to list arguments of float elements, argument "
                           << position << " is " << types.back());
  }
  return types;
}

LogicalResult VjpOp::verifySymbolUses(SymbolTableCollection &tables) {
  func::FuncOp callee = calleeOf(*this, getCalleeAttr(), tables);
  if (!callee)
    return failure();
  FunctionType type = callee.getFunctionType();
  if (TypeRange(getInputs().getTypes()) != TypeRange(type.getInputs()) ||
      TypeRange(getCotangents().getTypes()) != TypeRange(type.getResults())) // c1
    return calleeError(*this, callee)
           << "expected operands (" << type.getInputs() << ") and cotangents (" << type.getResults()
           << "), got (" << getInputs().getTypes() << ") and (" << getCotangents().getTypes()
           << ")";
  SmallVector<Type> expected(type.getResults());
  FailureOr<SmallVector<Type>> gradients = typesAt(*this, callee, getWrt()); // c2
  if (failed(gradients))
    return failure();
  llvm::append_range(expected, *gradients);
  if (TypeRange(getResultTypes()) != TypeRange(expected)) // c3, S7
    return calleeError(*this, callee)
           << "expected results (" << expected << "), got (" << getResultTypes() << ")";
  return success();
}

LogicalResult JvpOp::verifySymbolUses(SymbolTableCollection &tables) {
  func::FuncOp callee = calleeOf(*this, getCalleeAttr(), tables);
  if (!callee)
    return failure();
  FunctionType type = callee.getFunctionType();
  FailureOr<SmallVector<Type>> moved = typesAt(*this, callee, getWrt());
  if (failed(moved))
    return failure();
  if (TypeRange(getInputs().getTypes()) != TypeRange(type.getInputs()) ||
      TypeRange(getTangents().getTypes()) != TypeRange(*moved)) // c1
    return calleeError(*this, callee)
           << "expected operands (" << type.getInputs() << ") and tangents (" << *moved
           << "), got (" << getInputs().getTypes() << ") and (" << getTangents().getTypes() << ")";
  SmallVector<Type> expected(type.getResults());
  llvm::append_range(expected, floatTypes(type.getResults()));
  if (TypeRange(getResultTypes()) != TypeRange(expected)) // c2
    return calleeError(*this, callee)
           << "expected results (" << expected << "), got (" << getResultTypes() << ")";
  return success();
}

//===----------------------------------------------------------------------===//
// Gradient
//===----------------------------------------------------------------------===//

/// The names of `value` that `formal` lacks: a call is lifted over these.
static std::set<std::string> liftedNames(Value value, Type formal) {
  std::set<std::string> names;
  for (const Dim &dim : tensorType(value).getDims())
    if (!cast<NdTensorType>(formal).has(dim.name))
      names.insert(dim.name.str());
  return names;
}

/// Renames the names of `value` in `from` to suffixed ones, or `back`.
static Value respelled(OpBuilder &b, Location loc, Value value, const std::set<std::string> &from,
                       bool back) {
  SmallVector<std::string> aside;
  SmallVector<StringRef> names, others;
  for (const std::string &name : from)
    aside.push_back(name + "$lifted");
  for (auto [name, other] : llvm::zip_equal(from, aside)) {
    names.push_back(back ? StringRef(other) : StringRef(name));
    others.push_back(back ? StringRef(name) : StringRef(other));
  }
  return buildRename(b, loc, value, names, others);
}

static Value zeroWithout(OpBuilder &b, Location loc, Value value,
                         const std::set<std::string> &names) {
  return buildZero(b, loc, tensorType(value).where([&](const Dim &dim) {
    return !names.count(dim.name.str());
  }));
}

/// Lifts the gradient like the call. The cotangent of a result that lacks a lifted name counts
/// once, not once per coordinate, so the gradient is called once for each set of lifted names of
/// results; these results do not depend on operands with other lifted names. The gradient may
/// already have a lifted name (for another argument), so all lifted names get a suffix.
LogicalResult CallOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                    SmallVectorImpl<Value> &gradients) {
  if (!getGradientAttr())
    return emitOpError() << "cannot be differentiated before it is inlined";
  auto gradient = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(*this, getGradientAttr());
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(*this, getCalleeAttr());
  SmallVector<std::set<std::string>> ofOperand, ofResult;
  for (auto [value, formal] : llvm::zip_equal(getInputs(), callee.getArgumentTypes()))
    ofOperand.push_back(liftedNames(value, formal));
  for (auto [value, formal] : llvm::zip_equal(getResults(), callee.getResultTypes()))
    ofResult.push_back(liftedNames(value, formal));
  std::set<std::set<std::string>> groups;
  for (auto [names, cotangent] : llvm::zip_equal(ofResult, cotangents))
    if (cotangent)
      groups.insert(names);
  for (const std::set<std::string> &group : groups) {
    auto isIn = [&](const std::set<std::string> &names) {
      return std::includes(group.begin(), group.end(), names.begin(), names.end());
    };
    SmallVector<Value> inputs;
    for (auto [value, names] : llvm::zip_equal(getInputs(), ofOperand))
      inputs.push_back(isIn(names) ? respelled(b, getLoc(), value, names, false)
                                   : zeroWithout(b, getLoc(), value, names));
    for (auto [value, names, cotangent] : llvm::zip_equal(getResults(), ofResult, cotangents))
      inputs.push_back(cotangent && names == group ? respelled(b, getLoc(), cotangent, names, false)
                                                   : zeroWithout(b, getLoc(), value, names));
    SmallVector<Value> made = buildCall(b, getLoc(), gradient, inputs);
    if (made.size() != gradient.getNumResults())
      return failure();
    unsigned next = 0;
    for (auto [i, input] : llvm::enumerate(getInputs())) {
      if (!isa<FloatType>(tensorType(input).getElementType()))
        continue;
      Value own = made[next++];
      if (!wanted[i] || !isIn(ofOperand[i]))
        continue;
      // Sum the gradients over lifted names that the operand lacks.
      NdTensorType type = tensorType(inputs[i]);
      own =
          buildBroadcast(b, getLoc(), buildSumTo(b, getLoc(), own, type), type.getDims().getDims());
      own = respelled(b, getLoc(), own, ofOperand[i], true);
      gradients[i] = gradients[i] ? add(b, getLoc(), gradients[i], own) : own;
    }
  }
  return success();
}
