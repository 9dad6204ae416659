//===- StreamDevice.h - runs programs on a GPU ------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A device whose programs are a manifest and kernels. It runs the steps of an entry one by one by a
// `Driver`:
//
//     static DeviceRegistration registered(
//         std::make_unique<StreamDevice>("opencl", [](int number) { return openOpenCl(number); }));
//
// The manifest says in which memory each value lies, "host" or, by the name of the kind, the
// device's, and has the copies between them as steps (lib/conversion/nest_to_steps/AssignSpaces.h).
// When a program is loaded, "opencl" becomes "opencl:1" if the thread has selected that one.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_DEVICE_STREAMDEVICE_H
#define HEDDLE_RUNTIME_DEVICE_STREAMDEVICE_H

#include "runtime/device/Device.h"
#include "runtime/device/Driver.h"

#include <functional>
#include <map>
#include <mutex>

namespace heddle {

class DeviceMemory;

class StreamDevice : public Device {
public:
  /// Opens the device with a number; throws Error if there is none.
  using Open = std::function<std::unique_ptr<Driver>(int number)>;
  StreamDevice(std::string name, Open open) : kind(std::move(name)), open(std::move(open)) {}

  std::string name() const override { return kind; }
  std::shared_ptr<DeviceProgram> load(const ProgramImage &image, std::string &error) override;
  bool select(int number) override;
  std::shared_ptr<MemoryManager> memory(std::string_view space) override;
  bool isPresent() override;

private:
  std::string kind;
  Open open;
  std::mutex mutex;
  std::map<int, std::weak_ptr<DeviceMemory>> devices; ///< the open ones

  std::shared_ptr<DeviceMemory> opened();
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_DEVICE_STREAMDEVICE_H
