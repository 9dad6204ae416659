//===- KernelLabels.cpp - canonical labels for a nest's names -------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_steps/KernelLabels.h"

#include "dialects/nest/NestBuild.h"
#include "lib/analysis/Layouts.h"
#include "lib/analysis/NestAnalysis.h"
#include "lib/transforms/nest/prepare/OrderReads.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

#include <set>

using namespace heddle;
using namespace mlir;

static bool areDistinct(const Labels &labels) {
  std::set<std::string> seen;
  return llvm::all_of(labels, [&](const auto &each) { return seen.insert(each.second).second; });
}

static KernelLabels labelsOf(Operation *nest, KnownKernels &known) {
  SmallVector<Value> operands = nest::kernelOperands(nest);
  KernelLabels result;
  result.operands.resize(operands.size());
  auto layoutOf = [&](Value value) {
    return nest::LayoutAttr::get(nest->getContext(), nest::layoutOf(value));
  };
  if (isa<nest::LoopNestInterface>(nest)) {
    Labels labels = canonicalKernel(nest, layoutOf, known);
    if (!areDistinct(labels))
      return result; // too many symmetric orders: keep the names
    result.ranks.resize(operands.size());
    for (const auto &[name, label] : labels) {
      auto [before, after] = StringRef(name).split('.');
      size_t operand;
      if (before.getAsInteger(10, operand))
        result.iteration[name] = label;
      else if (after.empty())
        result.ranks[operand] = label;
      else
        result.operands[operand][after.str()] = label;
    }
    return result;
  }
  Labels labels = canonicalTree(nest, operands, layoutOf);
  if (!areDistinct(labels))
    return result;
  result.uniform = true;
  result.operands.assign(operands.size(), labels);
  result.iteration = std::move(labels);
  return result;
}

std::vector<NameRewriter> heddle::operandRewriters(Operation *nest, const KernelLabels &labels,
                                                   unsigned first) {
  SmallVector<Value> distinct = nest::kernelOperands(nest);
  std::vector<NameRewriter> result;
  for (Value operand : nest->getOperands().drop_front(first))
    result.emplace_back(labels.operands[size_t(llvm::find(distinct, operand) - distinct.begin())]);
  return result;
}

NameRewriter heddle::resultRewriter(Operation *nest, const KernelLabels &labels) {
  return nest::updatedBy(nest) ? operandRewriters(nest, labels)[0] : NameRewriter(labels.iteration);
}

void heddle::renameNest(Operation *nest, const KernelLabels &labels) {
  NameRewriter iteration(labels.iteration);
  if (labels.uniform)
    return iteration.rewrite(nest);
  auto loops = cast<nest::LoopNestInterface>(nest);
  iteration.rewriteNest(loops, operandRewriters(nest, labels, loops.getFirstRead()),
                        resultRewriter(nest, labels));
}

/// Sorts the reads of a compute or update by the labels of their operands and maps.
static void sortReads(Operation *op, const KernelLabels &labels) {
  if (labels.ranks.empty())
    return;
  auto nest = cast<nest::LoopNestInterface>(op);
  SmallVector<Value> distinct = nest::kernelOperands(nest);
  std::vector<NameRewriter> reads = operandRewriters(nest, labels, nest.getFirstRead());
  std::vector<std::string> keys;
  NameRewriter names(labels.iteration); // also maps reads to their keys
  for (const NestRead &read : readsOf(nest)) {
    std::string key = labels.ranks[size_t(llvm::find(distinct, read.value) - distinct.begin())];
    key.insert(0, 8 - std::min<size_t>(8, key.size()), ' '); // d9 comes before d10
    llvm::raw_string_ostream(key) << " " << names.rewrite(read.map, reads[read.operand])
                                  << names.rewrite(read.guard);
    names.names[nest::readName(read.operand)] = "h" + llvm::utohexstr(llvm::xxh3_64bits(key));
    keys.push_back(std::move(key));
  }
  nest::orderReads(nest, keys);
}

KernelLabels heddle::orderOperands(Operation *nest, KnownKernels &known) {
  SmallVector<Value> before = nest::kernelOperands(nest);
  KernelLabels labels = labelsOf(nest, known);
  sortReads(nest, labels);
  KernelLabels ordered = labels;
  for (auto [to, value] : llvm::enumerate(nest::kernelOperands(nest))) {
    size_t from = size_t(llvm::find(before, value) - before.begin());
    ordered.operands[to] = labels.operands[from];
    if (!labels.ranks.empty())
      ordered.ranks[to] = labels.ranks[from];
  }
  return ordered;
}
