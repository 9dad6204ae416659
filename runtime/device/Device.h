//===- Device.h - runs programs of other targets ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If the manifest of a program names a target other than this CPU, the device with that name loads
// the program. A library registers a device:
//
//     static DeviceRegistration null(std::make_unique<NullDevice>());   // in libheddle
//
// If none is registered, loading fails with an error that names the target. A device provides a
// function for each entry, which is called like compiled code (Abi.h), with the device's own data
// in `HeddleCall::device`.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_DEVICE_DEVICE_H
#define HEDDLE_RUNTIME_DEVICE_DEVICE_H

#include "runtime/format/Abi.h"
#include "runtime/format/ProgramImage.h"
#include "runtime/memory/MemoryManager.h"

#include <memory>
#include <string>

namespace heddle {

/// A program that a device has loaded. It outlives all calls of the program.
class DeviceProgram {
public:
  virtual ~DeviceProgram() = default;
  /// The function of an entry, and the data that it receives.
  struct Entry {
    HeddleEntry function;
    void *data; ///< `HeddleCall::device`
  };
  virtual Entry entry(const EntrySpec &spec) = 0;
};

/// Runs the programs of one target.
class Device {
public:
  virtual ~Device() = default;
  /// The name that `Manifest::target` uses.
  virtual std::string name() const = 0;
  /// The name of the compiler's target whose programs it runs.
  virtual std::string target() const { return name(); }
  /// Loads a program, or returns null and sets `error` to the reason. `image` does not outlive the
  /// call.
  virtual std::shared_ptr<DeviceProgram> load(const ProgramImage &image, std::string &error) = 0;
  /// Selects one of several devices of this kind, by its number from 0, for the programs that are
  /// loaded on this thread from now on. False if there is only one.
  virtual bool select(int /*number*/) { return false; }
  /// True if there is such a device, which is faster than the CPU.
  virtual bool isPresent() { return false; }
  /// The manager of a memory space beside the host's; null if the device does not serve it. Its own
  /// name for the space may be more precise, "opencl:1" for "opencl".
  virtual std::shared_ptr<MemoryManager> memory(std::string_view /*space*/) { return nullptr; }
};

/// The device called `name`; null if none is registered.
Device *findDevice(std::string_view name);
/// Finds a device by `NAME` or `NAME:NUMBER` and selects it for the programs that are loaded on
/// this thread from now on. Null for "cpu" and "", and for "auto" if no device is present. For
/// another word throws Error that lists the names.
Device *selectDevice(std::string_view word);

/// The memory of a device, by the same words; null: the host's.
std::shared_ptr<MemoryManager> memoryOfDevice(std::string_view word);

/// Registers a device during the object's lifetime. If several have the same name, the latest
/// registration wins.
class DeviceRegistration {
public:
  explicit DeviceRegistration(std::unique_ptr<Device> device);
  ~DeviceRegistration();
  DeviceRegistration(const DeviceRegistration &) = delete;
  DeviceRegistration &operator=(const DeviceRegistration &) = delete;

private:
  std::unique_ptr<Device> device;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_DEVICE_DEVICE_H
