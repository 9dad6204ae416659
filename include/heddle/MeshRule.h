//===- MeshRule.h - which arguments a mesh splits ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rule of a plan splits or places the arguments whose paths fit its pattern, or splits operators:
//
//     net.wide/hidden:model     splits the name `hidden` over the axis `model`
//     net.last@stage=1          places arguments at coordinate 1 of the axis `stage`
//     adam@file                 keeps arguments in files
//     op net.wide.dw/batch:model    splits the operators of this name
//     op net.wide@stage=1       computes these operators at coordinate 1 of the axis `stage`
//     recompute net.wide        computes what these operators make again for the backward pass
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_MESHRULE_H
#define HEDDLE_MESHRULE_H

#include <cstdint>
#include <string>
#include <vector>

namespace heddle {

/// "net.wide/hidden:model" splits the name `hidden` over the axis `model`, in arguments whose
/// paths contain the words of the pattern in a row; a word may have a *, and a dot before the first
/// word, or after the last, stands for an end of the path. "net.last@stage=1" places
/// such arguments, and what is computed from them, at coordinate 1 of the axis `stage`;
/// "op net.last@stage=1" places what these operators compute.
/// "adam@file" keeps them, and the values assigned to them, in files of $HEDDLE_SPILL_DIR; it
/// needs no mesh.
struct MeshRule {
  std::string text;                   ///< as it was written, without its comment
  std::string where = {};             ///< the comment; of a rule of a file "plan 'FILE', line 3"
  std::string pattern = {};           ///< empty: matches any argument
  std::string name = {};              ///< empty: it splits no name
  std::vector<std::string> axes = {}; ///< such as "data" or "data(2)4"
  int64_t coordinate = -1;            ///< of a place, which has one axis; -1: not a place
  std::string memory = {};            ///< device, host or file
  bool isOfOperators = false;         ///< the pattern is one of operators, not of arguments
  bool mayMatchNothing = false;       ///< "op?": no error if there is no such operator
  bool recomputes = false;            ///< "recompute": a rule of operators that splits nothing
  std::string operators = {};         ///< of a rule of operators: the text after its first word

  /// True for "net.last@stage=1".
  bool isPlace() const { return coordinate >= 0; }
  /// Its text for one of several functions: "op?" for "op", "recompute?" for "recompute".
  std::string forSome() const;
  /// True if the pattern matches the path.
  bool fits(const std::string &path) const;
  /// The rule, with a comment that states its file and line.
  std::string commented() const { return where.empty() ? text : text + " # " + where; }
  /// For messages: the rule 'batch:data' (plan 'FILE', line 3)
  std::string str() const;
};

} // namespace heddle

#endif // HEDDLE_MESHRULE_H
