//===- MergeFunctions.cpp - merges equal functions ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The form of a function consists of the forms of its ops (lib/analysis/Canonical.h), with numbers
// for values and labels for the names of formals. It is built only for functions with equal quick
// keys. Callees are visited before callers, so that callers of merged functions become equal.
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/FunctionAttrs.h"
#include "dialects/nd/NdBuild.h"
#include "lib/analysis/BlockForms.h"
#include "lib/transforms/nd/InlineCalls.h"
#include "lib/transforms/nd/Lift.h"
#include "lib/transforms/nd/Passes.h"

namespace heddle::nd {
#define GEN_PASS_DEF_NDMERGEFUNCTIONSPASS
#include "lib/transforms/nd/Passes.h.inc"
} // namespace heddle::nd

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

/// A cheap key; equal functions have equal keys.
static std::string firstSight(func::FuncOp function) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (Type type : function.getArgumentTypes()) {
    auto tensor = dyn_cast<NdTensorType>(type);
    stream << (tensor ? tensor.getElementType() : type) << (tensor ? tensor.getDims().size() : 0);
  }
  for (Operation &op : function.front())
    if (!renamingOf(&op)) // merging a callee renames its operands and results
      stream << op.getName() << op.getNumOperands() << op.getNumResults();
  return text;
}

namespace {
/// The form of a function, with labels for the names of its formals and results.
struct FunctionForm {
  CanonicalForm form;
  SmallVector<Labels> results;

  static std::optional<FunctionForm> of(func::FuncOp function, const SymbolTable &functions);
};

/// Writes the form of a function for given labels of its formals' names.
class Writer {
public:
  Writer(func::FuncOp function, const SymbolTable &functions, const Labels &formals)
      : function(function), functions(functions), forms(outside, {}, [this](Operation *op) {
          auto call = dyn_cast<CallOp>(op);
          return call ? formOf(call) : std::nullopt;
        }) {
    for (BlockArgument argument : function.getArguments()) {
      OperandIdentity identity{"a" + std::to_string(argument.getArgNumber()), {}};
      for (const Dim &dim : tensorType(argument).getDims()) {
        std::string &label = identity.names[dim.name.str()];
        label = formals.find(std::string_view(dim.name.getValue()))->second;
        sizes[label] = dim.size().getExpr().str();
      }
      forms.set(argument, std::move(identity));
    }
  }
  /// Empty if an op has no form.
  std::string write(SmallVectorImpl<Labels> *results) {
    std::string text;
    for (auto &[label, size] : sizes)
      text += label + ": " + size + ", ";
    for (Type type : function.getArgumentTypes())
      text += elementText(type);
    if (Attribute ranges = function->getAttr(rangesAttrName))
      llvm::raw_string_ostream(text) << ranges;
    if (!forms.visit(function.front()))
      return {};
    for (Value value : function.front().getTerminator()->getOperands()) {
      OperandIdentity identity = forms.identify(value);
      text += "\nreturn " + identity.value + elementText(value.getType());
      if (results)
        results->push_back(std::move(identity.names));
    }
    return text;
  }

private:
  func::FuncOp function;
  const SymbolTable &functions;
  BlockForms forms;
  std::map<std::string, std::string> sizes; ///< of formals, by label

  static OperandIdentity outside(Value) { llvm_unreachable("a function reads nothing around it"); }
  static std::string elementText(Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << " " << cast<NdTensorType>(type).getElementType();
    return text;
  }
  /// Formals are matched by spelling, since both calls have the same callee; lifted names are not.
  std::optional<CanonicalForm> formOf(CallOp call) {
    auto callee = functions.lookup<func::FuncOp>(call.getCallee());
    if (!callee || call.getGradient())
      return std::nullopt;
    CanonicalForm form;
    form.text = "call @" + callee.getName().str() + (call.getCheckpoint() ? " checkpoint" : "");
    for (auto [input, formal] : llvm::zip_equal(call.getInputs(), callee.getArgumentTypes())) {
      OperandIdentity identity = forms.identify(input);
      std::set<std::string> lifted;
      form.text += " (" + identity.value;
      for (const auto &[name, label] : identity.names) {
        form.labels[name] = label;
        if (cast<NdTensorType>(formal).has(name))
          form.text += " " + name + "=" + label;
        else
          lifted.insert(label);
      }
      for (const std::string &label : lifted)
        form.text += " +" + label;
      form.text += ")";
    }
    for (Value result : call.getResults())
      for (const Dim &dim : tensorType(result).getDims())
        form.labels.try_emplace(dim.name.str(), hashed(form.text) + ":" + dim.name.str());
    return form;
  }
};
} // namespace

std::optional<FunctionForm> FunctionForm::of(func::FuncOp function, const SymbolTable &functions) {
  std::set<std::string> names;
  for (Type type : function.getArgumentTypes())
    for (const Dim &dim : cast<NdTensorType>(type).getDims())
      names.insert(dim.name.str());
  std::vector<std::string> list(names.begin(), names.end());
  FunctionForm result;
  result.form = canonicalise(list, [&](const Labels &labels) {
    return Writer(function, functions, labels).write(nullptr);
  });
  if (Writer(function, functions, result.form.labels).write(&result.results).empty())
    return std::nullopt;
  return result;
}

/// Maps the names of `type` from labels `from` to labels `to`; none for names that stay.
static void matchNames(NdTensorType type, const Labels &from, const Labels &to,
                       SmallVectorImpl<StringRef> &before, SmallVectorImpl<StringRef> &after) {
  for (const Dim &dim : type.getDims())
    if (auto label = from.find(std::string_view(dim.name.getValue())); label != from.end())
      for (const auto &[name, other] : to)
        if (other == label->second && name != dim.name.getValue()) {
          before.push_back(dim.name);
          after.push_back(name);
        }
}

/// Removes the layer labels from the ops of a function that is called from several layers, unless
/// the ops of `other` have the same labels.
static void forgetOtherLayers(func::FuncOp function, func::FuncOp other) {
  auto layersIn = [](func::FuncOp of) {
    llvm::DenseSet<StringAttr> layers;
    of.walk([&](Operation *op) {
      if (auto layer = op->getLoc()->findInstanceOf<NameLoc>())
        layers.insert(layer.getName());
    });
    return layers;
  };
  if (layersIn(function) == layersIn(other))
    return;
  function.walk([](Operation *op) {
    if (auto layer = op->getLoc()->findInstanceOf<NameLoc>())
      op->setLoc(layer.getChildLoc());
  });
}

namespace {
struct Known {
  mutable func::FuncOp function;
  FunctionForm form;
};

/// Redirects a call from `gone` to `kept`; false if a lifted name prevents it.
bool redirect(CallOp call, const Known &gone, const Known &kept) {
  OpBuilder builder(call);
  llvm::StringSet<> own = collectNames(kept.function);
  SmallVector<Value> inputs;
  for (auto [input, formal] : llvm::zip_equal(call.getInputs(), gone.function.getArgumentTypes())) {
    for (const Dim &dim : tensorType(input).getDims())
      if (!cast<NdTensorType>(formal).has(dim.name) && own.contains(dim.name))
        return false;
    SmallVector<StringRef> from, to;
    matchNames(cast<NdTensorType>(formal), gone.form.form.labels, kept.form.form.labels, from, to);
    inputs.push_back(buildRename(builder, call.getLoc(), input, from, to));
  }
  SmallVector<Value> results = buildCall(builder, call.getLoc(), kept.function, inputs,
                                         /*gradient=*/{}, call.getCheckpoint());
  for (auto [i, result] : llvm::enumerate(results)) {
    SmallVector<StringRef> from, to;
    matchNames(cast<NdTensorType>(kept.function.getResultTypes()[i]), kept.form.results[i],
               gone.form.results[i], from, to);
    result = buildRename(builder, call.getLoc(), result, from, to);
    result = buildBroadcast(builder, call.getLoc(), result,
                            tensorType(call.getResult(i)).getDims().getDims());
  }
  call.replaceAllUsesWith(results);
  call.erase();
  return true;
}

struct NdMergeFunctionsPass : nd::impl::NdMergeFunctionsPassBase<NdMergeFunctionsPass> {
  void runOnOperation() override {
    llvm::StringMap<unsigned> alike;
    DenseSet<Operation *> functions;
    auto isTensor = [](Type type) { return isa<NdTensorType>(type); };
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && llvm::hasSingleElement(function.getBody()) &&
          function.getNumResults() > 0 && llvm::all_of(function.getArgumentTypes(), isTensor) &&
          llvm::all_of(function.getResultTypes(), isTensor)) {
        functions.insert(function);
        ++alike[firstSight(function)];
      }
    if (llvm::all_of(alike, [](const auto &entry) { return entry.second < 2; }))
      return;
    FailureOr<SmallVector<func::FuncOp>> order = calleesFirst(getOperation());
    if (failed(order))
      return signalPassFailure();
    SymbolTable table(getOperation());
    // The number of references to a function, and how many of them are calls that can be
    // redirected.
    DenseMap<Operation *, unsigned> uses;
    DenseMap<Operation *, SmallVector<CallOp>> calls;
    getOperation()->walk([&](Operation *op) {
      op->getAttrDictionary().walk(
          [&](FlatSymbolRefAttr symbol) { ++uses[table.lookup(symbol.getValue())]; });
      if (auto call = dyn_cast<CallOp>(op); call && !call.getGradient())
        calls[table.lookup(call.getCallee())].push_back(call);
    });
    llvm::StringMap<Known> seen;
    for (func::FuncOp function : *order) {
      if (!functions.contains(function))
        continue;
      std::string text = firstSight(function);
      if (alike.lookup(text) < 2)
        continue;
      auto form = FunctionForm::of(function, table);
      if (!form)
        continue;
      auto [found, isNew] = seen.try_emplace(text + "\n" + form->form.text);
      if (isNew) {
        found->second = {function, std::move(*form)};
        continue;
      }
      Known gone{function, std::move(*form)};
      forgetOtherLayers(found->second.function, function);
      for (CallOp call : calls.lookup(function))
        uses[function] -= redirect(call, gone, found->second);
      if (function.isPrivate() && uses.lookup(function) == 0)
        table.erase(function);
    }
  }
};
} // namespace
