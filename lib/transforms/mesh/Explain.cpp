//===- Explain.cpp - why values are split as they are ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/Explain.h"

#include "dialects/nest/Nest.h"
#include "lib/transforms/mesh/Links.h"

#include "llvm/Support/FormatVariadic.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

static std::string bytesText(double bytes) { return llvm::formatv("{0:f0} bytes", bytes).str(); }

static std::string textOf(const Sharding &sharding) {
  std::string text;
  for (const auto &[name, axes] : sharding)
    text += (text.empty() ? "" : ", ") + name + ": " + mesh::str(axes);
  return "{" + text + "}";
}

/// Says of each name where its axes come from.
static std::string reasons(const Links &links, ArrayRef<unsigned> nodes) {
  std::string text;
  for (unsigned each : nodes) {
    const Links::Node &node = links.nodes[each];
    if (!node.axes.empty()) {
      unsigned origin = each;
      while (links.nodes[origin].from)
        origin = *links.nodes[origin].from;
      text += (text.empty() ? "" : "; ") + ("'" + node.name + "' has ") + mesh::str(node.axes) +
              (origin == each ? " as stated" : " as " + links.describe(origin)) + node.why;
    }
    for (const Links::Declined &declined : node.declined)
      text += (text.empty() ? "" : "; ") + ("'" + node.name + "' could have ") +
              mesh::str(declined.axes) + " (it keeps " + bytesText(declined.gain) + " in place, '" +
              links.nodes[declined.by].name + "' " + bytesText(declined.winner) + ")";
  }
  return text;
}

void mesh::explainShardings(func::FuncOp function, const Links &links) {
  for (BlockArgument argument : function.getArguments())
    if (Sharding sharding = links.sharding(argument); !sharding.empty())
      emitRemark(argument.getLoc())
          << "argument " << argument.getArgNumber() << " " << textOf(sharding) << ": "
          << reasons(links, links.nodesOf(argument));
  function.walk([&](Operation *op) {
    if (Sharding sharding = links.sharding(op); !sharding.empty())
      op->emitRemark() << textOf(sharding) << ": " << reasons(links, links.nodesOf(op));
  });
}

double mesh::bytesSent(Operation *op, MeshAttr mesh) {
  auto collective = cast<CollectiveInterface>(op);
  double bytes = 0;
  for (Value operand : op->getOperands())
    bytes += bytesOf(operand);
  bytes *= collective.getSentShare(partsOf(mesh, collective.getAxes().getAxes()));
  for (auto scan = op->getParentOfType<nest::ScanOp>(); scan;
       scan = scan->getParentOfType<nest::ScanOp>())
    bytes *= double(scan.getAlong().begin()->size().typical());
  return bytes;
}

void mesh::explainCollectives(func::FuncOp function, MeshAttr mesh) {
  double all = 0;
  int count = 0;
  function.walk([&](CollectiveInterface op) {
    double bytes = bytesSent(op, mesh);
    all += bytes;
    ++count;
    op->emitRemark() << op->getName().getStringRef() << " over " << op.getAxes().str()
                     << ": each device sends " << bytesText(bytes);
  });
  function.emitRemark() << count << " collectives, in which each device of " << mesh.devices()
                        << " sends " << bytesText(all);
}
