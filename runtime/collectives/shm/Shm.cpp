//===- Shm.cpp - the engine shm -------------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/collectives/shm/SharedTransport.h"

using namespace heddle;
using namespace heddle::collectives;

const char collectives::engineName[] = "shm";

std::unique_ptr<Transport> collectives::openTransport(World &world) {
  world.refuseOtherOptions();
  return std::make_unique<SharedTransport>(world);
}
