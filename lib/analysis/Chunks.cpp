//===- Chunks.cpp - the number of chunks of a nest ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/analysis/Chunks.h"

#include "dialects/nest/NestBuild.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

Expr nest::chunksOf(Operation *nest) {
  auto scheduled = dyn_cast<ScheduledInterface>(nest);
  if (!scheduled)
    return 1;
  nd::DimsAttr names = scheduled.getSharedNames();
  if (llvm::any_of(names, [](const nd::Dim &dim) { return dim.size().constant() == 0; }))
    return isa<SortOp>(nest) || updatedBy(nest) ? 1 : 0;
  Expr chunks(1);
  std::map<std::vector<std::string>, int64_t> tiles; // the step of the last loop over a group
  for (const Loop &loop : scheduleOf(nest).loops) {
    if (!names.contains(loop.names[0]))
      continue; // reduced
    Expr size(1);
    __int128 points = 1;
    for (const std::string &name : loop.names) {
      nd::SizeAttr each = names.lookup(name);
      size = size * each.getExpr();
      points = std::min<__int128>(points * each.most(), INT64_MAX / 4);
    }
    auto [tile, isWhole] = tiles.emplace(loop.names, int64_t(points));
    isWhole |= tile->second >= int64_t(points);
    int64_t step = std::min(loop.step, std::max<int64_t>(tile->second, 1));
    if (loop.isShared())
      chunks = chunks * (isWhole ? size.ceildiv(step) : Expr(llvm::divideCeil(tile->second, step)));
    tile->second = std::min(tile->second, loop.step);
  }
  return chunks;
}
