//===- Communication.h - a step that communicates ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The data that a step of a program moves between the ranks of a group (MeshSpec.h):
//
//     CommunicationSpec sum{.kind = CommunicationSpec::Kind::AllReduce, .axes = {"data"},
//                           .element = ElementType::F32, .counts = {1024}};
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_FORMAT_COMMUNICATION_H
#define HEDDLE_RUNTIME_FORMAT_COMMUNICATION_H

#include "heddle/ElementType.h"
#include "heddle/Expr.h"
#include "runtime/format/MeshSpec.h"

namespace heddle {

/// Describes a step that communicates. Its values are the input and the output, if it has both. An
/// all-reduce may have several inputs and as many outputs, which are moved together.
struct CommunicationSpec {
  enum class Kind : uint8_t {
    Barrier,
    AllReduce,
    ReduceScatter,
    AllGather,
    AllToAll,
    Permute,
    Broadcast,
    Send,
    Receive
  };
  enum class Combiner : uint8_t { Sum, Product, Max, Min };

  Kind kind = Kind::Barrier;
  AxisList axes; ///< the axes of the group
  ElementType element = ElementType::F32;
  Combiner combiner = Combiner::Sum; ///< for reductions
  /// Numbers of elements, over the symbols, in the order that engines expect: of the input, and of
  /// the output if that differs. Operations with parts have one count per member, or one for all;
  /// an all-reduce has one per input.
  std::vector<Expr> counts, outputCounts;
  /// Members of the group, over the symbols, for permute, broadcast, send and receive; -1: none.
  Expr source = Expr(-1), target = Expr(-1);

  bool hasInput() const { return kind != Kind::Barrier && kind != Kind::Receive; }
  bool hasOutput() const { return kind != Kind::Barrier && kind != Kind::Send; }
  /// A lower bound of the bytes that a rank sends, for any engine: an all-reduce sends each element
  /// twice, except those of the rank's own block. None if the counts are not constant.
  std::optional<int64_t> sentBytes(const MeshSpec &mesh) const;
};

/// In the order of CommunicationSpec::Kind.
inline constexpr const char *communicationKinds[] = {"barrier",    "all-reduce", "reduce-scatter",
                                                     "all-gather", "all-to-all", "permute",
                                                     "broadcast",  "send",       "receive"};
inline const char *spelling(CommunicationSpec::Kind kind) { return communicationKinds[int(kind)]; }

/// Empty if the number of counts fits the group and the kind, and constant counts and members are
/// valid. `bytes` are the sizes of the step's values, if constant.
std::string verifyCommunication(const MeshSpec &mesh, const CommunicationSpec &communication,
                                const std::vector<std::optional<int64_t>> &bytes);

} // namespace heddle

#endif // HEDDLE_RUNTIME_FORMAT_COMMUNICATION_H
