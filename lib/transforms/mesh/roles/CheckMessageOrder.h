//===- CheckMessageOrder.h - roles can't deadlock ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each message has a channel, a number. A send waits for the receive of the same channel, which
// another role (Roles.h) executes, and the reverse:
//
//     @"f.stage=0"                         @"f.stage=1"
//       mesh.send %h ... channel 0           %h = mesh.receive ... channel 0
//       %d = mesh.receive ... channel 1      mesh.send %d ... channel 1
//
// If the channels of each role ascend, of the unfinished messages both sides of the one with the
// smallest channel come next, so roles can't deadlock. Checked after the split, and again when
// entries are outlined, since passes may have moved messages.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_ROLES_CHECKMESSAGEORDER_H
#define HEDDLE_LIB_TRANSFORMS_MESH_ROLES_CHECKMESSAGEORDER_H

#include "dialects/mesh/MeshDialect.h"

#include <map>

namespace heddle::mesh {

/// One end of a message.
struct MessageEnd {
  MessageInterface op;
  int64_t self; ///< the role that it belongs to
};
/// The roles of one entry, by number, and their messages by channel, the sender first.
struct EntryRoles {
  std::map<int64_t, func::FuncOp> roles;
  std::map<std::pair<int64_t, bool>, MessageEnd> ends;
};
using RolesByEntry = std::map<std::string, EntryRoles>;

/// Fails, with an error at the op, if a send or receive has no matching side, or if the channels of
/// a role do not ascend. Collects the roles in `all`.
LogicalResult checkMessageOrder(ModuleOp module, RolesByEntry &all);
LogicalResult checkMessageOrder(ModuleOp module);

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_ROLES_CHECKMESSAGEORDER_H
