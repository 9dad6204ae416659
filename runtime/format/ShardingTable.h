//===- ShardingTable.h - reports how a program is sharded -------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program file for several ranks has a section "shardings": the output of `--explain` at compile
// time. It has a row for each value of the whole program, and one for each collective. Programs run
// without it.
//
//     x: f32 {batch: 5, in: 3}   {batch: [data]}   'batch' has [data] by the rule 'batch:data'
//     all_gather over [data]: each device sends 96 bytes, 16 of them padding
//
// The section is JSON in which rows are indices into one list of strings, since these repeat often.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_FORMAT_SHARDINGTABLE_H
#define HEDDLE_RUNTIME_FORMAT_SHARDINGTABLE_H

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
    std::string type, sharding, reason;
    bool operator==(const Value &) const = default;
  };
  struct Collective {
    std::string kind, axes, location;
    int64_t bytes = 0;   ///< sent by a device in one call, at typical sizes
    int64_t padding = 0; ///< how many of them are padding
    bool operator==(const Collective &) const = default;
  };
  struct Entry {
    std::string name, role; ///< `values` is set for the first role only
    std::vector<Value> values;
    std::vector<Collective> collectives;
    bool operator==(const Entry &) const = default;
  };
  std::vector<Entry> entries;

  bool empty() const { return entries.empty(); }
  bool operator==(const ShardingTable &) const = default;
  /// The section; equal tables give equal strings.
  std::string toJson() const;
  /// None for malformed text; `error` then describes the mistake.
  static std::optional<ShardingTable> fromJson(std::string_view text, std::string &error);
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_FORMAT_SHARDINGTABLE_H
