//===- PlanFile.h - meshes and shardings as text ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan is a mesh and rules that shard arguments, and operators, by their names:
//
//     data=2,model=2             the axes of the mesh; the last one varies fastest over devices
//     batch:data                 the name batch of every argument, over the axis data
//     net.wide/hidden:model      the name hidden of arguments such as net.wide.weight
//     state.*/hidden:data+model  over both axes, data outermost
//     net/hidden:                over none, whatever the other rules imply
//     hidden:data(2)4            over the sub-axis of data of size 4 inside an outer one of size 2
//     net.last@stage=1           arguments such as net.last.weight, on the devices of stage 1 only
//     adam@file                  arguments such as adam.mean.first.weight, in files, not in memory
//     op net.wide.dw/in:data     the iteration name in of the operator net.wide.dw, over data
//     op net.wide@data(1)2=1     the operators of this name, on the second half of data only
//     recompute net.wide         what net.wide makes is computed again for the backward pass
//
// A pattern is a list of words separated by dots, which match consecutive words anywhere in the
// `nd.name` of an argument, or in the name of an operator (lib/analysis/Operators.h); `*` in a word
// matches any letters. A dot before the first word, or after the last, stands for an end of the
// name, so that `.net.w.` matches net.w alone. Axes of earlier rules are propagated first. Of
// several rules for one name of an argument or operator, or places on axes that overlap, the last
// one is used.
//
// A rule of operators needs a pattern. It splits a produced or a summed name; the devices then have
// parts of the sums, which are combined. What no rule splits or places follows. `op?` instead
// of `op`, and `recompute?`, let a rule match nothing, in plans for several functions.
//
// Several axes, and parts of axes, may have places. These split no name: they are roles (Roles.h).
//
// A plan file has one rule a line, and at most one line for each setting:
//
//     mesh data=2,model=2
//     graph 99aa06d3014798d8                       the program that it is for (GraphHash.h)
//     links data 1e9 bytes/s 5e-06 s               of an axis: its rate, and its latency
//     zero 3                                       of trainers
//     micro-batches 4                              of trainers
//     schedule 1f1b                                in which order stages run micro-batches: greedy,
//                                                  gpipe, 1f1b or interleaved (PipelineSchedules.h)
//
// `#` begins a comment. A command line's lines follow those of the file, so that its rules override
// them; settings of both must agree.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_SUPPORT_PLANFILE_H
#define HEDDLE_LIB_SUPPORT_PLANFILE_H

#include "heddle/MeshRule.h"
#include "runtime/format/MeshSpec.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <map>
#include <string>
#include <vector>

namespace heddle::mesh {

struct Plan {
  /// The text of a setting, and its file and line.
  struct Setting {
    std::string text, where;
  };
  /// The links along an axis of the mesh.
  struct Links {
    std::string axis;
    double bytesPerSecond, startSeconds;
    std::string where;
    std::string str() const;
  };
  MeshSpec mesh;
  std::vector<MeshRule> rules;
  std::vector<Links> links;
  /// By `mesh`, `graph`, `zero`, `micro-batches` or `schedule`.
  std::map<std::string, Setting, std::less<>> settings;

  bool empty() const { return mesh.axes.empty() && rules.empty(); }
  /// Adds axes and lines, whose comments state where they are from. Returns an error message; empty
  /// on success.
  std::string parse(llvm::StringRef axes, llvm::ArrayRef<std::string> lines);
  /// Adds the lines of a plan file; `path` is for messages.
  std::string parseFile(llvm::StringRef text, llvm::StringRef path = "");
  std::string readFile(llvm::StringRef path);
  /// For messages: ` (plan 'FILE', line 1)`, or nothing.
  std::string whereIs(llvm::StringRef setting) const;
  /// The lines, commented, that passes need besides mesh and rules: `graph`, `schedule` and
  /// `links`.
  std::vector<std::string> statements() const;

private:
  std::string set(llvm::StringRef word, llvm::StringRef value, std::string where);
  std::string parseMesh(llvm::StringRef text);
  std::string parseLinks(llvm::StringRef text, std::string where);
  std::string parseRule(llvm::StringRef text, std::string where);
  std::string parseLine(llvm::StringRef text, std::string where = "");
};

/// True for `greedy`, `gpipe`, `1f1b` and `interleaved`.
bool isSchedule(llvm::StringRef word);
/// True for `device`, `host` and `file`.
bool isMemory(llvm::StringRef word);

} // namespace heddle::mesh

#endif // HEDDLE_LIB_SUPPORT_PLANFILE_H
