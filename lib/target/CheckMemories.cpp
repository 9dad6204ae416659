//===- CheckMemories.cpp - the memories of arguments ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/target/CheckMemories.h"

#include "dialects/mesh/MeshDialect.h"

using namespace heddle;
using namespace mlir;

LogicalResult heddle::checkMemories(ModuleOp module, const Target &target, bool explain) {
  for (auto function : module.getOps<func::FuncOp>())
    for (BlockArgument argument :
         function.isExternal() ? ArrayRef<BlockArgument>() : function.getArguments()) {
      auto stated = function.getArgAttrOfType<mesh::ShardingAttr>(argument.getArgNumber(),
                                                                  mesh::shardingAttrName);
      StringRef memory = stated && stated.getMemory() ? stated.getMemory().getValue() : "device";
      if (memory == "device")
        continue;
      auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), nd::nameAttrName);
      std::string what =
          name ? "'" + name.str() + "'" : "argument " + std::to_string(argument.getArgNumber());
      if (!target.sharesHostMemory())
        return emitError(argument.getLoc()) << what << " states the memory '" << memory
                                            << "', which the device of the target does not share; "
                                               "expected device";
      if (explain)
        emitRemark(argument.getLoc())
            << what
            << (memory == "host" ? " is in the memory of the host, which is the device's"
                                 : " is in a file, which callers map into memory");
    }
  return success();
}
