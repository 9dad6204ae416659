//===- EngineTransport.h - an engine runs a job's steps ---------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Connects a job with the collectives: an engine runs the steps of the job's programs that
// communicate. Its ranks find each other over the job's control channel.
//
//     auto job = Job::join();
//     useEngine(*job);                        // the launcher's choice, else shm
//     program->run("train", {...}, {.job = job});
//
// A group of ranks is created when a step first uses it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_CONTROL_ENGINETRANSPORT_H
#define HEDDLE_RUNTIME_CONTROL_ENGINETRANSPORT_H

#include "runtime/control/Job.h"

namespace heddle {

/// Opens the engine called `name` (empty: that of `job.info()`, else shm) with its `options`, and
/// sets the transport of the job. All ranks call it, once. The engine's `timeout` is the job's
/// unless the options set one. Throws Error.
void useEngine(Job &job, const std::string &name = "", const std::string &options = "");

} // namespace heddle

#endif // HEDDLE_RUNTIME_CONTROL_ENGINETRANSPORT_H
