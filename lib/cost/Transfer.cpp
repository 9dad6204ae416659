//===- Transfer.cpp - how long a transfer takes ---------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/cost/Transfer.h"

#include "lib/analysis/NestAnalysis.h"
#include "lib/cost/Network.h"

using namespace heddle;
using namespace heddle::cost;
using namespace mlir;

TransferCost cost::costOf(const Transfer &transfer, const Group &group) {
  if (group.devices < 2)
    return {};
  const Link &link = group.link;
  double moving = transfer.bytes > 0 ? transfer.bytes / link.bytesPerSecond : 0;
  double ofCores = transfer.rounds * link.coreSeconds + transfer.bytes / link.coreBytesPerSecond;
  return {transfer.rounds * link.startSeconds + moving, link.startSeconds + moving, transfer.bytes,
          ofCores};
}

bool cost::isTransfer(Operation *op) {
  return isa<nest::TransferInterface, mesh::MessageInterface>(op);
}

TransferCost cost::costOfTransfer(Operation *transfer, const Machine &machine) {
  return Network{mesh::meshOf(transfer), machine}.costOf(transfer);
}

double cost::runsOf(Operation *op) {
  double runs = 1;
  for (auto scan = op->getParentOfType<nest::ScanOp>(); scan;
       scan = scan->getParentOfType<nest::ScanOp>())
    runs *= pointsOf(scan.getAlong());
  return runs;
}
