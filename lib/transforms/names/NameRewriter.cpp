//===- NameRewriter.cpp - renames dimensions in IR ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/names/NameRewriter.h"

#include "dialects/mesh/MeshDialect.h"
#include "dialects/nd/FunctionAttrs.h"
#include "dialects/nest/NestBuild.h"

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

std::string NameRewriter::operator()(StringRef name) const {
  if (seen)
    seen->insert(name);
  return labelOf(names, name);
}

/// Rewrites an expression over iteration names, symbols and earlier reads.
Expr NameRewriter::rewriteIndex(const Expr &expr) const {
  return expr.substitute([&](const std::string &name) -> std::optional<Expr> {
    if (nest::readIndex(name) && !names.contains(name))
      return std::nullopt;
    if (names.contains(name) || seen)
      return Expr::name((*this)(name));
    auto symbol = symbols.find(name);
    return symbol == symbols.end() ? std::nullopt : std::optional<Expr>(symbol->second);
  });
}

DimsAttr NameRewriter::rewrite(DimsAttr dims) const {
  SmallVector<Dim> result;
  for (const Dim &dim : dims)
    result.emplace_back(dims.getContext(), (*this)(dim.name),
                        dim.size().getExpr().substitute(symbols));
  return DimsAttr::getSorted(dims.getContext(), result);
}

Type NameRewriter::rewrite(Type type) const {
  auto tensor = dyn_cast<NdTensorType>(type);
  return tensor ? tensor.withDims(rewrite(tensor.getDims()).getDims()) : type;
}

nest::MapAttr NameRewriter::rewrite(nest::MapAttr map, const NameRewriter &tensor) const {
  SmallVector<nest::MapEntry> entries;
  for (const nest::MapEntry &entry : map.getEntries())
    entries.emplace_back(map.getContext(), tensor(entry.name), rewriteIndex(entry.expr()));
  return nest::MapAttr::getSorted(map.getContext(), entries);
}

nest::ScheduleAttr NameRewriter::rewrite(nest::ScheduleAttr attr,
                                         ArrayRef<NameRewriter> operands) const {
  nest::Schedule schedule = attr.getSchedule().rename(names);
  for (nest::Stage &stage : schedule.stages)
    if (stage.operand < operands.size()) {
      const Labels &to = operands[stage.operand].names;
      stage.layout = stage.layout.rename(to);
      stage.copy = nest::Schedule{stage.copy, {}}.rename(to).loops;
    }
  return nest::ScheduleAttr::get(attr.getContext(), schedule);
}

Attribute NameRewriter::rewrite(Attribute attr) const {
  MLIRContext *context = attr.getContext();
  if (auto name = dyn_cast<StringAttr>(attr))
    return StringAttr::get(context, (*this)(name));
  if (auto list = dyn_cast<ArrayAttr>(attr))
    return ArrayAttr::get(context,
                          llvm::map_to_vector(list, [&](Attribute each) { return rewrite(each); }));
  if (auto size = dyn_cast<SizeAttr>(attr))
    return SizeAttr::get(context, size.getExpr().substitute(symbols));
  if (auto dims = dyn_cast<DimsAttr>(attr))
    return rewrite(dims);
  if (auto map = dyn_cast<nest::MapAttr>(attr))
    return rewrite(map, *this);
  if (auto guard = dyn_cast<nest::GuardAttr>(attr)) {
    SmallVector<nest::Condition> conditions;
    for (const nest::Condition &condition : guard.getConditions())
      conditions.emplace_back(context, rewriteIndex(condition.expr()), condition.equality);
    return nest::GuardAttr::get(context, conditions, guard.getOtherwise());
  }
  if (auto layout = dyn_cast<nest::LayoutAttr>(attr))
    return nest::LayoutAttr::get(context, layout.getLayout().rename(names));
  if (auto sharding = dyn_cast<mesh::ShardingAttr>(attr)) {
    SmallVector<mesh::NamedAxes> entries(sharding.getNames());
    for (mesh::NamedAxes &entry : entries)
      entry.name = StringAttr::get(context, (*this)(entry.name));
    return sharding.withNames(entries);
  }
  if (auto schedule = dyn_cast<nest::ScheduleAttr>(attr)) {
    size_t staged = 0;
    for (const nest::Stage &stage : schedule.getSchedule().stages)
      staged = std::max<size_t>(staged, stage.operand + 1);
    return rewrite(schedule, std::vector<NameRewriter>(staged, *this));
  }
  return attr;
}

/// Returns the attributes of an op of nd, nest or mesh that may mention names: its own, and
/// shardings and sizes.
static SmallVector<NamedAttribute> attributesWithNames(Operation *op) {
  if (!isa_and_nonnull<NdDialect, nest::NestDialect, mesh::MeshDialect>(op->getDialect()))
    return {};
  auto isSize = [](Attribute attr) {
    auto list = dyn_cast<ArrayAttr>(attr);
    return isa<SizeAttr>(list && !list.empty() ? list[0] : attr);
  };
  return llvm::filter_to_vector(op->getAttrs(), [&](NamedAttribute attr) {
    return isa<mesh::ShardingAttr>(attr.getValue()) || isSize(attr.getValue()) ||
           (!attr.getName().getValue().contains('.') && !isa<SymbolRefAttr>(attr.getValue()));
  });
}

/// Iteration names of nests and groups around `op` hide size symbols with the same names.
std::optional<NameRewriter> NameRewriter::inside(Operation *op) const {
  std::optional<NameRewriter> inside;
  for (const auto &[name, range] : nest::iterationRanges(symbols.empty() ? nullptr : op))
    if (symbols.contains(name) && !names.contains(name))
      (inside ? *inside : inside.emplace(*this)).names.emplace(name, name);
  return inside;
}

void NameRewriter::rewriteAttributes(Operation *op) const {
  if (std::optional<NameRewriter> own = inside(op))
    return own->rewriteAttributes(op);
  if (auto index = dyn_cast<nest::IndexOp>(op)) // of a name, or of a size symbol
    if (auto symbol = symbols.find(index.getName().str());
        symbol != symbols.end() && symbol->second.asName() && !names.contains(index.getName()))
      return index.setName(*symbol->second.asName());
  for (NamedAttribute attr : attributesWithNames(op))
    op->setAttr(attr.getName(), rewrite(attr.getValue()));
}

static void forEachType(Operation *op, llvm::function_ref<void(Value)> visit) {
  llvm::for_each(op->getResults(), visit);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      llvm::for_each(block.getArguments(), visit);
}

void NameRewriter::rewrite(Operation *op) const {
  op->walk([&](Operation *inner) {
    rewriteAttributes(inner);
    forEachType(inner, [&](Value value) { value.setType(rewrite(value.getType())); });
  });
}

void NameRewriter::rewriteNest(nest::LoopNestInterface nest, ArrayRef<NameRewriter> reads,
                               const NameRewriter &results) const {
  if (std::optional<NameRewriter> own = inside(nest))
    return own->rewriteNest(nest, reads, results);
  auto readMaps = [&](ArrayAttr maps) {
    SmallVector<Attribute> renamed;
    for (auto [i, map] : llvm::enumerate(maps))
      renamed.push_back(
          rewrite(cast<nest::MapAttr>(map), i < reads.size() ? reads[i] : NameRewriter()));
    return ArrayAttr::get(nest->getContext(), renamed);
  };
  for (NamedAttribute attr : attributesWithNames(nest)) {
    Attribute value = attr.getValue();
    if (auto map = dyn_cast<nest::MapAttr>(value)) // the destination map of an update
      value = rewrite(map, results);
    else if (auto schedule = dyn_cast<nest::ScheduleAttr>(value))
      value = rewrite(schedule, reads);
    else if (attr.getName() == "maps")
      value = readMaps(cast<ArrayAttr>(value));
    else if (attr.getName() == "layouts" || attr.getName() == "copies")
      value = results.rewrite(value);
    else
      value = rewrite(value);
    nest->setAttr(attr.getName(), value);
  }
  for (OpResult result : nest->getResults())
    result.setType(results.rewrite(result.getType()));
  nest->walk([&](nest::IndexOp index) { rewriteAttributes(index); });
}

void NameRewriter::rewrite(func::FuncOp function) const {
  rewrite(function.getOperation());
  auto rewritten = [&](TypeRange types) {
    return llvm::map_to_vector(types, [&](Type type) { return rewrite(type); });
  };
  function.setFunctionType(FunctionType::get(function.getContext(),
                                             rewritten(function.getArgumentTypes()),
                                             rewritten(function.getResultTypes())));
  // Attributes of arguments and results that mention names.
  auto renamed = [&](Attribute attr) {
    if (auto type = dyn_cast_or_null<TypeAttr>(attr))
      return Attribute(TypeAttr::get(rewrite(type.getValue())));
    return attr ? rewrite(attr) : Attribute();
  };
  for (StringRef name : {StringRef("nd.layout"), StringRef(mesh::shardingAttrName),
                         StringRef(mesh::globalAttrName)}) {
    setArgAttrs(function, name, [&](unsigned i) { return renamed(function.getArgAttr(i, name)); });
    setResultAttrs(function, name,
                   [&](unsigned i) { return renamed(function.getResultAttr(i, name)); });
  }
}

Labels heddle::inverse(const Labels &names) {
  Labels result;
  for (const auto &[from, to] : names)
    result[to] = from;
  return result;
}

llvm::StringSet<> heddle::collectNames(Operation *root) {
  llvm::StringSet<> names;
  NameRewriter rewriter;
  rewriter.seen = &names;
  root->walk([&](Operation *op) {
    forEachType(op, [&](Value value) { rewriter.rewrite(value.getType()); });
    for (NamedAttribute attr : attributesWithNames(op))
      rewriter.rewrite(attr.getValue());
  });
  return names;
}

std::string heddle::freshName(StringRef base, llvm::StringSet<> &taken) {
  base = base.take_until([](char c) { return c == '$'; });
  auto named = [&](unsigned n) { return (base + "$" + Twine(n)).str(); };
  // Usually all numbers up to some limit are taken, and there may be very many: use binary search.
  unsigned last = 0, free = 1;
  while (taken.contains(named(free)))
    last = std::exchange(free, 2 * free);
  while (free - last > 1) {
    unsigned middle = (last + free) / 2;
    (taken.contains(named(middle)) ? last : free) = middle;
  }
  return taken.insert(named(free)).first->first().str();
}
