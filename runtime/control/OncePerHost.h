//===- OncePerHost.h - what one rank of a host makes for all ----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first rank of each host does what takes long; the others of this host wait, and get the bytes:
//
//     std::string image = oncePerHost(job, "compiling 'train'", [&] { return compile().bytes(); });
//
// The bytes are in a file without a name, which the others open through /proc. So nothing is left
// behind, and the control server moves a path for each host only.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_CONTROL_ONCEPERHOST_H
#define HEDDLE_RUNTIME_CONTROL_ONCEPERHOST_H

#include "runtime/control/Job.h"

#include <functional>

namespace heddle {

/// Calls `make` on the first rank of this host, and returns its result on all ranks of the host. All
/// ranks call this, with the same `what`, which is for messages. Throws what `make` has thrown, on
/// other ranks an Error that names the rank and says why; JobError if the job fails meanwhile, as when a rank that makes it dies. A rank that
/// can't open the file, such as one in another container, calls `make` as well.
std::string oncePerHost(Job &job, const std::string &what,
                        const std::function<std::string()> &make);

} // namespace heddle

#endif // HEDDLE_RUNTIME_CONTROL_ONCEPERHOST_H
