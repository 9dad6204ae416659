//===- OncePerHost.h - shares the result of one rank per host ---*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One rank per host does expensive work; the other ranks of the host wait for its bytes:
//
//     std::string image = oncePerHost(job, "compiling 'train'", [&] { return compile().bytes(); });
//
// The bytes are in an anonymous file, which the others open through /proc. So no file is left
// behind, and the control server only transfers one path per host.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_CONTROL_ONCEPERHOST_H
#define HEDDLE_RUNTIME_CONTROL_ONCEPERHOST_H

#include "runtime/control/Job.h"

#include <functional>

namespace heddle {

/// Calls `make` on the first rank of this host, and returns its result on all ranks of the host.
/// All ranks call it, with the same `what`, which is for messages. Rethrows what `make` throws;
/// other ranks get an Error that names the rank and the reason. Throws JobError if the job fails
/// meanwhile, for example because the rank that runs `make` dies. A rank that can't open the file,
/// such as one in another container, calls `make` itself.
std::string oncePerHost(Job &job, const std::string &what,
                        const std::function<std::string()> &make);

} // namespace heddle

#endif // HEDDLE_RUNTIME_CONTROL_ONCEPERHOST_H
