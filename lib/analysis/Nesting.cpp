//===- Nesting.cpp - limits of nesting depth ------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/analysis/Nesting.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SourceMgr.h"

using namespace heddle;
using namespace mlir;

namespace {
/// Scans a text once and tracks the open brackets. A comparison or an arrow may look like a
/// bracket: an unmatched opening bracket within a matched pair is ignored, as is an unmatched
/// closing bracket.
class Scan {
public:
  explicit Scan(StringRef text) : rest(text) {}
  std::pair<const char *, const char *> run() {
    for (; !rest.empty() && !problem; step())
      ;
    return {rest.data(), problem};
  }

private:
  StringRef rest;
  struct Open {
    char bracket;
    const char *affine; ///< start of the affine map in it
  };
  SmallVector<Open> open;
  llvm::StringMap<size_t> aliases; ///< the depth of each alias's definition
  size_t *defined = nullptr;       ///< the depth of the alias that is being defined
  const char *problem = nullptr;

  void step() {
    char c = rest.front();
    if (c == '"')
      return skipString();
    if (rest.starts_with("//"))
      rest = rest.drop_until([](char c) { return c == '\n'; });
    else if (rest.starts_with("->") || rest.starts_with(">=") || rest.starts_with("<="))
      rest = rest.drop_front(2);
    else if (c == '#' || c == '!')
      readAlias();
    else if (rest.starts_with("affine_map<") || rest.starts_with("affine_set<")) {
      push('<', rest.data());
      rest = rest.drop_front(StringRef("affine_map<").size());
    } else {
      if (StringRef("([{<").contains(c))
        push(c, open.empty() ? nullptr : open.back().affine);
      else if (StringRef(")]}>").contains(c))
        pop(c == ')' ? '(' : c == '>' ? '<' : c - 2);
      else if (c == '\n' && open.empty())
        defined = nullptr;
      if (!problem) {
        rest = rest.drop_front();
        if (!open.empty() && open.back().affine &&
            rest.data() - open.back().affine > long(longestAffineMap))
          problem = "expected an affine map of at most 10000 characters";
      }
    }
  }
  void push(char bracket, const char *affine) {
    open.push_back({bracket, affine});
    reach(open.size());
  }
  void pop(char bracket) {
    size_t size = open.size();
    while (size > 0 && open[size - 1].bracket != bracket)
      size = bracket == '<' ? 0 : size - 1;
    if (size > 0)
      open.truncate(size - 1);
  }
  void reach(size_t depth) {
    if (depth > deepestBracket)
      problem = "expected at most 2500 brackets, or attributes by name, inside each other";
    if (defined)
      *defined = std::max(*defined, depth);
  }
  void skipString() {
    for (rest = rest.drop_front(); !rest.empty() && rest.front() != '"' && rest.front() != '\n';)
      rest = rest.drop_front(std::min<size_t>(rest.front() == '\\' ? 2 : 1, rest.size()));
    rest = rest.drop_front(rest.starts_with("\"") ? 1 : 0);
  }
  void readAlias() {
    auto isPart = [](char c) { return llvm::isAlnum(c) || StringRef("_$.").contains(c); };
    StringRef name = rest.take_front(1 + rest.drop_front().take_while(isPart).size());
    rest = rest.drop_front(name.size());
    if (open.empty() && rest.ltrim(" \t\r\n").starts_with("=")) {
      defined = &aliases[name];
      return;
    }
    if (auto known = aliases.find(name); known != aliases.end())
      reach(open.size() + known->second + 1);
  }
};
} // namespace

std::pair<const char *, const char *> heddle::findTooDeep(StringRef text) {
  return Scan(text).run();
}

LogicalResult heddle::requireShallow(const llvm::SourceMgr &sources) {
  StringRef text = sources.getMemoryBuffer(sources.getMainFileID())->getBuffer();
  if (isBytecode(sources.getMemoryBuffer(sources.getMainFileID())->getMemBufferRef()))
    return success();
  auto [position, problem] = findTooDeep(text);
  if (!problem)
    return success();
  sources.PrintMessage(llvm::SMLoc::getFromPointer(position), llvm::SourceMgr::DK_Error, problem);
  return failure();
}

std::pair<Operation *, unsigned>
heddle::deepestOp(Operation *root, llvm::function_ref<unsigned(Operation *)> within) {
  std::pair<Operation *, unsigned> deepest(root, 0);
  SmallVector<std::pair<Operation *, unsigned>> left{{root, 0}};
  while (!left.empty()) {
    auto [parent, depth] = left.pop_back_val();
    for (Region &region : parent->getRegions())
      for (Operation &op : region.getOps()) {
        unsigned here = depth + (within ? within(&op) : 0);
        if (here > deepest.second)
          deepest = {&op, here};
        if (op.getNumRegions() > 0)
          left.emplace_back(&op, depth + 1);
      }
  }
  return deepest;
}

LogicalResult heddle::requireShallow(ModuleOp module) {
  for (Operation &function : *module.getBody())
    if (auto [op, depth] = deepestOp(&function); depth > deepestRegion)
      return op->emitOpError() << "is inside of " << depth << " regions of its function, expected "
                               << "at most " << deepestRegion;
  return success();
}
