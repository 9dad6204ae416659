//===- CanonicalNames.cpp - a canonical order of names --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/analysis/CanonicalNames.h"

#include "lib/analysis/LiteralText.h"

#include "dialects/nest/NestBuild.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

#include <set>

using namespace heddle;
using namespace mlir;

static std::string hashed(StringRef text) { return "h" + llvm::utohexstr(llvm::xxh3_64bits(text)); }

namespace {
class Refiner {
public:
  explicit Refiner(FunctionOpInterface function) : function(function) {
    for (BlockArgument argument : function.getArguments())
      collect(argument.getType(), all);
    function.walk([&](Operation *op) {
      if (isMentioning(op))
        for (const std::string &name : namesOf(op))
          all.insert(name);
    });
    for (const std::string &name : all)
      rank[name] = 0;
  }

  std::vector<std::string> run() {
    size_t classes = all.empty() ? 0 : 1;
    while (classes < all.size()) {
      refine();
      size_t now = countClasses();
      if (now == classes) {
        setOneApart();
        now = countClasses();
      }
      classes = now;
    }
    std::vector<std::string> order(all.begin(), all.end());
    llvm::sort(order,
               [&](const std::string &a, const std::string &b) { return rank[a] < rank[b]; });
    return order;
  }

private:
  FunctionOpInterface function;
  std::set<std::string> all;
  std::map<std::string, unsigned> rank;
  llvm::DenseMap<Operation *, std::vector<std::string>> mentioned; ///< names of an op
  llvm::DenseMap<Operation *, Literal> literals;                   ///< elements of constants
  // State of one round:
  Labels labels;
  llvm::DenseMap<unsigned, unsigned> members; ///< of each class
  llvm::DenseMap<Value, std::string> values;
  std::map<std::string, std::vector<std::string>> seen; ///< by name

  static bool isMentioning(Operation *op) {
    return isa_and_nonnull<nd::NdDialect, nest::NestDialect, mesh::MeshDialect, scf::SCFDialect>(
               op->getDialect()) ||
           (op->hasTrait<OpTrait::IsTerminator>() && op->getParentOp() &&
            isa<FunctionOpInterface>(op->getParentOp()));
  }

  static void collect(Type type, std::set<std::string> &names) {
    if (auto tensor = dyn_cast<nd::NdTensorType>(type))
      for (const nd::Dim &dim : tensor.getDims())
        names.insert(dim.name.str());
  }

  const std::vector<std::string> &namesOf(Operation *op) {
    auto [found, isNew] = mentioned.try_emplace(op);
    if (!isNew)
      return found->second;
    std::set<std::string> names;
    for (Type type : op->getOperandTypes())
      collect(type, names);
    for (Type type : op->getResultTypes())
      collect(type, names);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Type type : block.getArgumentTypes())
          collect(type, names);
    for (NamedAttribute attr : op->getAttrs())
      if (auto dims = dyn_cast<nd::DimsAttr>(attr.getValue()))
        for (const nd::Dim &dim : dims)
          names.insert(dim.name.str());
    found->second.assign(names.begin(), names.end());
    return found->second;
  }

  size_t countClasses() const {
    std::set<unsigned> classes;
    for (const auto &[name, of] : rank)
      classes.insert(of);
    return classes.size();
  }

  std::string typeText(Type type) const {
    auto tensor = dyn_cast<nd::NdTensorType>(type);
    std::string text;
    llvm::raw_string_ostream os(text);
    if (!tensor) {
      os << type;
      return text;
    }
    os << tensor.getElementType();
    std::vector<std::string> dims;
    for (const nd::Dim &dim : tensor.getDims())
      dims.push_back(labels.find(dim.name.str())->second + ":" + dim.size().getExpr().str());
    llvm::sort(dims);
    os << "{" << llvm::join(dims, ",") << "}";
    return text;
  }

  OperandIdentity identify(Value value) {
    OperandIdentity identity{values.lookup(value), {}};
    if (auto tensor = dyn_cast<nd::NdTensorType>(value.getType()))
      for (const nd::Dim &dim : tensor.getDims())
        identity.names[dim.name.str()] = labels.find(dim.name.str())->second;
    return identity;
  }

  std::string textOf(Operation *op) {
    if (auto literal = dyn_cast<nd::LiteralInterface>(op))
      return literals.try_emplace(op, literal).first->second.text(labels) +
             typeText(op->getResult(0).getType());
    SmallVector<OperandIdentity> operands =
        llvm::map_to_vector(op->getOperands(), [&](Value value) { return identify(value); });
    std::string text = textUnder(op, operands, labels).value_or("");
    if (text.empty())
      text = headText(op, operands, labels);
    if (op->getParentOp() == function)
      for (unsigned i = 0; op->hasTrait<OpTrait::IsTerminator>() && i < operands.size(); ++i)
        text += boundText(" " + std::to_string(i), function.getResultAttr(i, "nd.layout"),
                          function.getResultAttr(i, mesh::shardingAttrName));
    return text;
  }

  /// Records for each of `names` the hash of the text in which it is marked, unless its class has
  /// no other members. Returns the hash of the text without marks.
  std::string note(ArrayRef<std::string> names, llvm::function_ref<std::string()> text) {
    for (const std::string &name : names) {
      if (members.lookup(rank.find(name)->second) == 1)
        continue;
      std::string &label = labels.find(name)->second;
      std::string kept = std::exchange(label, "self");
      seen[name].push_back(hashed(text()));
      label = kept;
    }
    return hashed(text());
  }

  void visit(Block &block) {
    for (Operation &op : block) {
      if (!isMentioning(&op))
        continue;
      std::string all = note(namesOf(&op), [&] { return textOf(&op); });
      if (isa<nest::HoldsNestsInterface, scf::IfOp, scf::ForOp, scf::WhileOp>(op))
        for (Region &region : op.getRegions())
          for (Block &inner : region) {
            for (BlockArgument argument : inner.getArguments())
              values[argument] = all + "_" + std::to_string(argument.getArgNumber());
            visit(inner);
            for (Value yielded : inner.getTerminator()->getOperands())
              all = hashed(all + values.lookup(yielded));
          }
      for (OpResult result : op.getResults())
        values[result] = all + "_" + std::to_string(result.getResultNumber());
    }
  }

  void refine() {
    labels.clear();
    values.clear();
    seen.clear();
    members.clear();
    for (const auto &[name, of] : rank) {
      labels[name] = "c" + std::to_string(of);
      ++members[of];
    }
    for (BlockArgument argument : function.getArguments()) {
      std::set<std::string> names;
      collect(argument.getType(), names);
      std::vector<std::string> list(names.begin(), names.end());
      values[argument] = note(list, [&] { return argumentText(argument); });
    }
    visit(function.getFunctionBody().front());
    std::map<std::string, std::pair<unsigned, std::string>> signatures;
    std::vector<std::pair<unsigned, std::string>> sorted;
    for (const auto &[name, of] : rank) {
      std::vector<std::string> &list = seen[name];
      llvm::sort(list);
      signatures[name] = {of, hashed(llvm::join(list, " "))};
      sorted.push_back(signatures[name]);
    }
    llvm::sort(sorted);
    for (auto &[name, of] : rank)
      of = unsigned(llvm::lower_bound(sorted, signatures[name]) - sorted.begin());
  }

  std::string argumentText(BlockArgument argument) {
    unsigned number = argument.getArgNumber();
    auto name = function.getArgAttrOfType<StringAttr>(number, nd::nameAttrName);
    return "argument " + (name ? name.str() : std::to_string(number)) +
           typeText(argument.getType()) +
           boundText("", function.getArgAttr(number, "nd.layout"),
                     function.getArgAttr(number, mesh::shardingAttrName));
  }

  /// The layout and sharding that a function states for an argument or result; empty if none.
  std::string boundText(const std::string &what, Attribute layout, Attribute sharding) const {
    std::string text;
    if (auto stated = dyn_cast_or_null<nest::LayoutAttr>(layout))
      text += what + stated.getLayout().rename(labels).str();
    if (auto stated = dyn_cast_or_null<mesh::ShardingAttr>(sharding)) {
      // The memory of a tensor does not affect values, so it must not affect the order of a sum.
      MLIRContext *context = stated.getContext();
      auto split = mesh::ShardingAttr::get(context, stated.getNames(), stated.getClosed(),
                                           stated.getPartial(), stated.getCombiner(),
                                           stated.getPlace(), StringAttr());
      if (split != mesh::ShardingAttr::get(context, mesh::Sharding()))
        text += what + shardingText(split, labels);
    }
    return text;
  }

  /// Returns the text of each op, in order; each value is named after its defining op.
  std::vector<std::string> allTexts() {
    std::vector<std::string> texts;
    for (BlockArgument argument : function.getArguments())
      texts.push_back(hashed(argumentText(argument)));
    function.walk([&](Operation *op) {
      if (isMentioning(op))
        texts.push_back(hashed(textOf(op)));
    });
    return texts;
  }

  /// Returns true if exchanging any two of `names` changes no text: then any order of them is
  /// canonical. Marking them one after another would be slow for many names.
  bool areInterchangeable(const std::vector<std::string> &names) {
    values.clear();
    for (BlockArgument argument : function.getArguments())
      values.try_emplace(argument, "v" + std::to_string(values.size()));
    function.walk([&](Operation *op) {
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (BlockArgument argument : block.getArguments())
            values.try_emplace(argument, "v" + std::to_string(values.size()));
      for (Value result : op->getResults())
        values.try_emplace(result, "v" + std::to_string(values.size()));
    });
    labels.clear();
    for (const std::string &name : all)
      labels[name] = "u" + std::to_string(labels.size());
    std::vector<std::string> texts = allTexts();
    return llvm::all_of(ArrayRef(names).drop_front(), [&](const std::string &name) {
      std::swap(labels[name], labels[names[0]]);
      bool isSame = allTexts() == texts;
      std::swap(labels[name], labels[names[0]]);
      return isSame;
    });
  }

  void setOneApart() {
    std::map<unsigned, std::vector<std::string>> classes;
    for (const auto &[name, of] : rank)
      classes[of].push_back(name);
    for (const auto &[of, names] : classes)
      if (names.size() > 1) {
        bool all = names.size() > 2 && areInterchangeable(names);
        for (size_t i = 1; i < names.size(); ++i)
          rank[names[i]] += all ? unsigned(i) : 1;
        return;
      }
  }
};
} // namespace

std::vector<std::string> heddle::canonicalNames(FunctionOpInterface function) {
  if (function.isExternal())
    return {};
  return Refiner(function).run();
}

Labels heddle::spellings(Operation *function) {
  Labels names;
  if (auto dictionary = function->getAttrOfType<DictionaryAttr>(spellingsAttrName))
    for (NamedAttribute entry : dictionary)
      if (auto name = dyn_cast<StringAttr>(entry.getValue()))
        names[entry.getName().str()] = name.str();
  return names;
}
