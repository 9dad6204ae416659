//===- Transfer.h - how long a transfer takes -------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Devices send messages in rounds: those of a round at once, and the next ones when those of others
// have arrived. A round takes the time of the link until the first byte arrives; besides, a device
// sends its bytes one after another. To reduce s bytes, each of n devices sends s / n bytes to each
// other one, adds up what it gets, and sends the sum to each other one (runtime/collectives):
//
//     Transfer reduce{.rounds = 2, .bytes = 2 * (n - 1) * s / n};
//     costOf(reduce, {n, link}).seconds       2 * start + 2 (n - 1) s / n / rate
//
// The lower bound holds for any number of rounds.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COST_TRANSFER_H
#define HEDDLE_LIB_COST_TRANSFER_H

#include "lib/cost/Machine.h"

namespace heddle::cost {

struct Group {
  int64_t devices = 1;
  Link link;
};

/// The rounds and bytes of the messages that a device sends.
struct Transfer {
  double rounds = 1;
  double bytes = 0; ///< in all rounds
};

struct TransferCost {
  double seconds = 0; ///< estimate
  double least = 0;   ///< lower bound of the seconds
  double bytes = 0;   ///< that a device sends
  double ofCores = 0; ///< of the seconds, those in which the device can't compute
};

/// Nothing moves in a group of one device.
TransferCost costOf(const Transfer &transfer, const Group &group);

/// True for the ops that `costOfTransfer` takes: collectives, and either end of a message.
bool isTransfer(Operation *op);
/// Returns the cost of a collective, or of a message, on the mesh of its function and the links of
/// `machine`. A device that receives a message sends nothing, but the message takes as long.
TransferCost costOfTransfer(Operation *transfer, const Machine &machine);
/// How often an op runs in one run of its function: for each step of the recurrences around it.
double runsOf(Operation *op);

} // namespace heddle::cost

#endif // HEDDLE_LIB_COST_TRANSFER_H
