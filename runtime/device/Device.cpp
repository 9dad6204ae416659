//===- Device.cpp - runs programs of other targets ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/device/Device.h"
#include "heddle/Error.h"

#include <algorithm>
#include <charconv>
#include <mutex>
#include <set>

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

Device *heddle::selectDevice(std::string_view word) {
  if (word.empty() || word == "cpu")
    return nullptr;
  if (word == "auto") {
    auto devices = [] {
      std::lock_guard lock(registry().mutex);
      return registry().devices;
    }();
    for (Device *each : devices) {
      each->select(0);
      if (each->isPresent())
        return each;
    }
    return nullptr;
  }
  size_t colon = word.find(':');
  std::string_view name = word.substr(0, colon);
  int number = 0;
  bool isNumber = true;
  if (colon != word.npos) {
    std::string_view digits = word.substr(colon + 1);
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    isNumber = error == std::errc() && end == digits.data() + digits.size() && number >= 0;
  }
  Device *device = findDevice(name);
  if (device && isNumber && (device->select(number) || number == 0))
    return device;
  std::string names = "'cpu', 'auto'";
  {
    std::lock_guard lock(registry().mutex);
    std::set<std::string> sorted;
    for (Device *each : registry().devices)
      sorted.insert(each->name());
    for (const std::string &each : sorted)
      names += ", '" + each + "'";
  }
  throw Error("there is no device '" + std::string(word) + "'; expected one of " + names +
              ", or the name and number of one of several devices, such as 'opencl:0'");
}

std::shared_ptr<MemoryManager> heddle::memoryOfDevice(std::string_view word) {
  Device *device = selectDevice(word);
  return device ? device->memory(device->name()) : nullptr;
}

DeviceRegistration::DeviceRegistration(std::unique_ptr<Device> given) : device(std::move(given)) {
  std::lock_guard lock(registry().mutex);
  registry().devices.push_back(device.get());
}

DeviceRegistration::~DeviceRegistration() {
  std::lock_guard lock(registry().mutex);
  std::erase(registry().devices, device.get());
}
