//===- Agreement.h - what ranks compare before a call -----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each rank describes the call that it is about to make by a number and a list of named values. The
// descriptions must be equal on all ranks; otherwise a message names the first value that differs:
//
//     sayCall(17, {{"entry", "'train'"}, {"size N", "64"}})
//
//     rank 1 (...) has the size N 32 at call 17 (entry 'train'), but rank 0 (...) has 64
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_CONTROL_AGREEMENT_H
#define HEDDLE_RUNTIME_CONTROL_AGREEMENT_H

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle {

/// Names and values that have to be equal on all ranks that state the name. The first pair
/// identifies the call.
using Agreement = std::vector<std::pair<std::string, std::string>>;

std::string sayCall(uint64_t number, const Agreement &values);
/// "call 17 (entry 'train')". Throws Error for a text that `sayCall` did not write; so does the
/// next.
std::string describeCall(std::string_view said);
/// Describes how the second text differs from the first (that of `other`): in the number, or in a
/// value that both state. Empty if neither differs.
std::string describeDifference(std::string_view first, std::string_view second,
                               const std::string &other);

} // namespace heddle

#endif // HEDDLE_RUNTIME_CONTROL_AGREEMENT_H
