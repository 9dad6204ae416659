//===- Agreement.h - what ranks compare before a call -----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each rank says which call it is about to make, as a number and a list of named values. The texts
// have to be equal on all ranks; where they differ, the first value that does is named:
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
/// "call 17 (entry 'train')". Throws Error for a text that `sayCall` does not make, as the next.
std::string describeCall(std::string_view said);
/// Describes how the second text differs from the first, which is that of `other`, in its number or
/// in a value that both state; empty if it does not.
std::string describeDifference(std::string_view first, std::string_view second,
                               const std::string &other);

} // namespace heddle

#endif // HEDDLE_RUNTIME_CONTROL_AGREEMENT_H
