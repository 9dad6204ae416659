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
// All values lie in the device's memory while an entry runs. Arguments are copied there at its
// start, results back at its end, and constants once. A step of a library or of an engine gets its
// values in the host's memory, and they are copied there and back.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_DEVICE_STREAMDEVICE_H
#define HEDDLE_RUNTIME_DEVICE_STREAMDEVICE_H

#include "runtime/device/Device.h"
#include "runtime/device/Driver.h"

#include <atomic>
#include <functional>

namespace heddle {

class StreamDevice : public Device {
public:
  /// Opens the device with a number; throws Error if there is none.
  using Open = std::function<std::unique_ptr<Driver>(int number)>;
  StreamDevice(std::string name, Open open) : kind(std::move(name)), open(std::move(open)) {}

  std::string name() const override { return kind; }
  std::shared_ptr<DeviceProgram> load(const ProgramImage &image, std::string &error) override;
  bool select(int chosen) override {
    number = chosen;
    return true;
  }

private:
  std::string kind;
  std::atomic<int> number{0};
  Open open;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_DEVICE_STREAMDEVICE_H
