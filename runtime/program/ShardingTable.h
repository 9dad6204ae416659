//===- ShardingTable.h - why a program is split as it is --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program file for several ranks has a section "shardings": what `--explain` says of the program
// when it is compiled. It has a row for each value of the whole program, and one for each collective.
// Programs run without it.
//
//     x: f32 {batch: 5, in: 3}   {batch: [data]}   'batch' has [data] by the rule 'batch:data'
//     all_gather over [data]: each device sends 96 bytes, 16 of them padding
//
// The section is JSON in which rows have indices into one list of texts, as these occur many times.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_PROGRAM_SHARDINGTABLE_H
#define HEDDLE_RUNTIME_PROGRAM_SHARDINGTABLE_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

struct ShardingTable {
  /// A value of the whole program.
  struct Value {
    std::string name;     ///< of the argument or op
    std::string location; ///< "file:line:column"
    std::string type, sharding, why;
    bool operator==(const Value &) const = default;
  };
  struct Collective {
    std::string kind, axes, location;
    int64_t bytes = 0;   ///< that a device sends in one call, at typical sizes
    int64_t padding = 0; ///< of these, bytes beyond the sizes of tensors
    bool operator==(const Collective &) const = default;
  };
  struct Entry {
    std::string name, role; ///< of several roles of an entry the first has the values
    std::vector<Value> values;
    std::vector<Collective> collectives;
    bool operator==(const Entry &) const = default;
  };
  std::vector<Entry> entries;

  bool empty() const { return entries.empty(); }
  bool operator==(const ShardingTable &) const = default;
  /// The section; equal tables have equal ones.
  std::string toJson() const;
  /// None for malformed text, and `error` describes the mistake.
  static std::optional<ShardingTable> fromJson(std::string_view text, std::string &error);
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_PROGRAM_SHARDINGTABLE_H
