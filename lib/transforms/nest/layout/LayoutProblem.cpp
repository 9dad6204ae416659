//===- LayoutProblem.cpp - the choice of layouts as numbers ---------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/layout/LayoutProblem.h"

#include "lib/analysis/NestAnalysis.h"
#include "lib/transforms/nest/layout/LayoutCosts.h"
#include "lib/transforms/nest/layout/LayoutProposals.h"
#include "lib/transforms/nest/layout/LayoutValues.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// Nests propose layouts from their own maps, then pass proposals to their neighbours, which pass
/// them on.
static void proposeLayouts(ArrayRef<NestModel> nests, LayoutProposals &proposals) {
  for (const NestModel &nest : nests) {
    proposeForReduction(nest, proposals);
    proposeForGathers(nest, proposals);
  }
  for (int round = 0; round < 3; ++round) {
    for (const NestModel &nest : nests)
      translateProposals(nest, proposals);
    for (const NestModel &nest : llvm::reverse(nests))
      translateProposals(nest, proposals);
  }
}

static void takeCandidates(LaidValue &value, std::vector<Layout> candidates) {
  auto type = tensorType(value.values[0]);
  value.candidates = std::move(candidates);
  size_t open = value.fixed ? 1 : value.candidates.size();
  for (const Layout &layout : ArrayRef(value.candidates).take_front(open)) {
    double elements = double(SizedLayout(layout, type, type.sizes()).elements());
    value.cost.push_back(0.3 * (elements - pointsOf(type.getDims())));
  }
}

FailureOr<LayoutProblem> nest::makeLayoutProblem(func::FuncOp function,
                                                 const cost::Machine &machine) {
  FailureOr<LayoutValues> values = findLayoutValues(function);
  if (failed(values))
    return failure();
  std::vector<NestModel> nests;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<ComputeOp, UpdateOp>(op) && !op->getParentOfType<ScanOp>())
      nests.emplace_back(op, machine.facts);
  });
  LayoutProposals proposals(*values);
  proposeLayouts(nests, proposals);
  LayoutProblem problem;
  problem.values = values->values;
  for (auto [v, value] : llvm::enumerate(problem.values))
    takeCandidates(value, proposals.candidates(unsigned(v)));
  addNests(problem, values->index, nests, machine);
  return std::move(problem);
}
