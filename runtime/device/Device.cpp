//===- Device.cpp - runs programs of other targets ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/device/Device.h"

#include <algorithm>
#include <mutex>

using namespace heddle;

namespace {
struct Registry {
  std::mutex mutex;
  std::vector<Device *> devices;
};
} // namespace

/// A function-local static: registrations are static objects of other libraries, which may be
/// constructed earlier than those of this one.
static Registry &registry() {
  static Registry known;
  return known;
}

Device *heddle::findDevice(std::string_view name) {
  std::lock_guard lock(registry().mutex);
  auto &devices = registry().devices;
  auto found = std::find_if(devices.rbegin(), devices.rend(),
                            [&](Device *each) { return each->name() == name; });
  return found == devices.rend() ? nullptr : *found;
}

DeviceRegistration::DeviceRegistration(std::unique_ptr<Device> given) : device(std::move(given)) {
  std::lock_guard lock(registry().mutex);
  registry().devices.push_back(device.get());
}

DeviceRegistration::~DeviceRegistration() {
  std::lock_guard lock(registry().mutex);
  std::erase(registry().devices, device.get());
}
