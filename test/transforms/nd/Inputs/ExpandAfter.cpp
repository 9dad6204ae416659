//===- ExpandAfter.cpp - a plugin whose op expands itself -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lets `nd.after` be an op of an extension, for the test of nd-expand. It expands to its operand,
// unless its attribute `to` says otherwise:
//
//     to = 3          to itself with `to = 2`, and so on; with `to = 0` to its operand
//     to = "token"    to its second operand, which may have another type
//     to = "itself"   to the same op again
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/Nd.h"
#include "lib/transforms/nd/Expand.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"

using namespace heddle;
using namespace mlir;

namespace {
struct ExpandAfter : nd::ExpandInterface::ExternalModel<ExpandAfter, nd::AfterOp> {
  LogicalResult expand(Operation *op, OpBuilder &builder, SmallVectorImpl<Value> &results) const {
    auto word = op->getAttrOfType<StringAttr>("to");
    auto more = op->getAttrOfType<IntegerAttr>("to");
    if (word && word == "token") {
      results.push_back(op->getOperand(1));
    } else if (word || (more && more.getInt() > 0)) {
      Operation *copy = builder.clone(*op);
      if (more)
        copy->setAttr("to", builder.getI64IntegerAttr(more.getInt() - 1));
      results.push_back(copy->getResult(0));
    } else {
      results.push_back(op->getOperand(0));
    }
    return success();
  }
};
} // namespace

extern "C" ::mlir::DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "expand-after", "1", [](DialectRegistry *registry) {
            registry->addExtension(+[](MLIRContext *context, nd::NdDialect *) {
              nd::AfterOp::attachInterface<ExpandAfter>(*context);
            });
          }};
}
