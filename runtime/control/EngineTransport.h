//===- EngineTransport.h - an engine runs a job's steps ---------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Joins a job and the collectives: the steps of its programs that communicate are run by an engine,
// whose ranks find each other over the job's control channel.
//
//     auto job = Job::join();
//     useEngine(*job);                        // what the launcher says, else shm
//     program->run("train", {...}, {.job = job});
//
// A group of ranks is made when a step uses it for the first time.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_CONTROL_ENGINETRANSPORT_H
#define HEDDLE_RUNTIME_CONTROL_ENGINETRANSPORT_H

#include "runtime/control/Job.h"

namespace heddle {

/// Opens the engine called `name` (empty: that of `job.info()`, else shm) with its `options`, and
/// sets the transport of the job. All ranks call it, once. Unless the options state a `timeout`, it
/// is the job's. Throws Error.
void useEngine(Job &job, const std::string &name = "", const std::string &options = "");

} // namespace heddle

#endif // HEDDLE_RUNTIME_CONTROL_ENGINETRANSPORT_H
