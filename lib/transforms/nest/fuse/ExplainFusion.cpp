//===- ExplainFusion.cpp - what else fusion might have chosen -------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/fuse/ExplainFusion.h"

#include "llvm/Support/FormatVariadic.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

void FusionDecisions::add(FusionDecision decision) {
  auto isSame = [&](const FusionDecision &known) {
    return known.nest == decision.nest && known.loc == decision.loc &&
           (known.other == decision.other || known.other == decision.chosen);
  };
  auto known = llvm::find_if(decisions, isSame);
  if (known == decisions.end())
    decisions.push_back(std::move(decision));
  else
    *known = std::move(decision);
}

void ExplainFusionOptions::report(func::FuncOp function, const FusionDecisions &decisions) const {
  if (explained)
    explained(function, decisions);
  if (!explain)
    return;
  for (const FusionDecision &each : decisions.all()) {
    std::string cost = llvm::formatv("{0:f2} us", std::abs(each.seconds) * 1e6);
    InFlightDiagnostic remark = emitRemark(each.loc) << "'" << each.nest << "' " << each.chosen;
    remark.attachNote() << each.other
                        << (each.seconds < 0 ? " would save only " + cost
                                             : " would take " + cost + " more");
  }
}
