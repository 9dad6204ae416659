//===- OpenCl.cpp - OpenCL as a driver ------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The device `opencl` runs programs by OpenCL 1.2 with clCreateProgramWithIL, which takes SPIR-V.
// The library is opened when the first program is loaded:
//
//     HEDDLE_OPENCL             its file, instead of libOpenCL.so.1
//     HEDDLE_OPENCL_OPTIONS     more options for the compiler of the device, "-cl-opt-disable"
//     HEDDLE_OPENCL_SECONDS     how long to wait for the device (600); after that it counts as lost
//
// OpenCL can't stop a kernel. If one does not end, all later calls fail, and nothing that the
// device may still use is released.
//
//===----------------------------------------------------------------------===//

#include "heddle/Error.h"
#include "runtime/device/StreamDevice.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <thread>

using namespace heddle;

namespace {
// The declarations of OpenCL's header that we use; it need not be installed.
using Status = int32_t;
using Bits = uint64_t;
using Handle = void *;
constexpr uint32_t deviceName = 0x102B, buildLog = 0x1183, singleFloats = 0x101B;
constexpr Bits allDevices = 0xFFFFFFFF, readWrite = 1, exactDivision = 1 << 7;
constexpr uint32_t blocking = 1, deviceType = 0x1000, doubleFloats = 0x1032, sharedBytes = 0x1023;
constexpr uint32_t addressBits = 0x100D, executionStatus = 0x11D3;
constexpr uint32_t kernelLanes = 0x11B0, kernelSharedBytes = 0x11B2;
constexpr Status notSupported = -59;
constexpr Bits cpu = 1 << 1;
/// Of a buffer, of other memory on the device, on the host; a buffer larger than the device allows.
constexpr Status outOfMemory[] = {-4, -5, -6, -61};

/// The library, and those of its functions that we call.
struct Functions {
  const char *chosen = std::getenv("HEDDLE_OPENCL");
  std::string file = chosen && *chosen ? chosen : "libOpenCL.so.1";
  void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);

  Status (*clGetPlatformIDs)(uint32_t, Handle *, uint32_t *) = find("clGetPlatformIDs");
  Status (*clGetDeviceIDs)(Handle, Bits, uint32_t, Handle *, uint32_t *) = find("clGetDeviceIDs");
  Status (*clGetDeviceInfo)(Handle, uint32_t, size_t, void *, size_t *) = find("clGetDeviceInfo");
  Handle (*clCreateContext)(const intptr_t *, uint32_t, const Handle *, void *, void *,
                            Status *) = find("clCreateContext");
  Status (*clReleaseContext)(Handle) = find("clReleaseContext");
  Handle (*clCreateCommandQueue)(Handle, Handle, Bits, Status *) = find("clCreateCommandQueue");
  Status (*clReleaseCommandQueue)(Handle) = find("clReleaseCommandQueue");
  Handle (*clCreateBuffer)(Handle, Bits, size_t, void *, Status *) = find("clCreateBuffer");
  Status (*clReleaseMemObject)(Handle) = find("clReleaseMemObject");
  Status (*clEnqueueReadBuffer)(Handle, Handle, uint32_t, size_t, size_t, void *, uint32_t,
                                const Handle *, Handle *) = find("clEnqueueReadBuffer");
  Status (*clEnqueueWriteBuffer)(Handle, Handle, uint32_t, size_t, size_t, const void *, uint32_t,
                                 const Handle *, Handle *) = find("clEnqueueWriteBuffer");
  Status (*clEnqueueCopyBuffer)(Handle, Handle, Handle, size_t, size_t, size_t, uint32_t,
                                const Handle *, Handle *) = find("clEnqueueCopyBuffer");
  Handle (*clCreateProgramWithIL)(Handle, const void *, size_t,
                                  Status *) = find("clCreateProgramWithIL");
  Status (*clBuildProgram)(Handle, uint32_t, const Handle *, const char *, void *,
                           void *) = find("clBuildProgram");
  Status (*clGetProgramBuildInfo)(Handle, Handle, uint32_t, size_t, void *,
                                  size_t *) = find("clGetProgramBuildInfo");
  Status (*clReleaseProgram)(Handle) = find("clReleaseProgram");
  Handle (*clCreateKernel)(Handle, const char *, Status *) = find("clCreateKernel");
  Status (*clReleaseKernel)(Handle) = find("clReleaseKernel");
  Status (*clGetKernelWorkGroupInfo)(Handle, Handle, uint32_t, size_t, void *,
                                     size_t *) = find("clGetKernelWorkGroupInfo");
  Status (*clSetKernelArg)(Handle, uint32_t, size_t, const void *) = find("clSetKernelArg");
  Status (*clEnqueueNDRangeKernel)(Handle, Handle, uint32_t, const size_t *, const size_t *,
                                   const size_t *, uint32_t, const Handle *,
                                   Handle *) = find("clEnqueueNDRangeKernel");
  Status (*clEnqueueMarkerWithWaitList)(Handle, uint32_t, const Handle *,
                                        Handle *) = find("clEnqueueMarkerWithWaitList");
  Status (*clGetEventInfo)(Handle, uint32_t, size_t, void *, size_t *) = find("clGetEventInfo");
  Status (*clReleaseEvent)(Handle) = find("clReleaseEvent");
  Status (*clFlush)(Handle) = find("clFlush");
  Status (*clFinish)(Handle) = find("clFinish");

private:
  /// An address as a pointer to a function of the member's type.
  struct Address {
    void *address;
    template <typename Function>
    operator Function *() const {
      return reinterpret_cast<Function *>(address);
    }
  };
  Address find(const char *name) const {
    if (!library)
      throw Error("OpenCL's library can't be opened: " + std::string(dlerror()));
    if (void *address = dlsym(library, name))
      return {address};
    throw Error("OpenCL's library '" + file + "' has no function '" + name +
                "'; expected OpenCL 2.1, or 1.2 with SPIR-V");
  }
};

void check(Status status, const std::string &what) {
  if (status)
    throw Error("OpenCL can't " + what + ": status " + std::to_string(status));
}

/// True if a SPIR-V module begins with the capability to compute with f64.
bool usesDoubles(std::string_view module) {
  constexpr uint32_t header = 20, opCapability = 17 | 2 << 16, float64 = 10;
  uint32_t op[2];
  for (size_t at = header; at + sizeof op <= module.size(); at += sizeof op) {
    std::memcpy(op, module.data() + at, sizeof op);
    if (op[0] != opCapability)
      return false;
    if (op[1] == float64)
      return true;
  }
  return false;
}

/// Opens the library on first use; it stays open.
const Functions &functions() {
  static const Functions found;
  return found;
}

/// The devices of all platforms, in the library's order.
std::vector<Handle> allDevicesOf(const Functions &cl) {
  std::vector<Handle> platforms(16), devices;
  uint32_t count = 0;
  if (cl.clGetPlatformIDs(uint32_t(platforms.size()), platforms.data(), &count))
    return {};
  platforms.resize(std::min<size_t>(count, platforms.size()));
  for (Handle platform : platforms) {
    std::vector<Handle> some(16);
    if (cl.clGetDeviceIDs(platform, allDevices, uint32_t(some.size()), some.data(), &count))
      continue;
    some.resize(std::min<size_t>(count, some.size()));
    devices.insert(devices.end(), some.begin(), some.end());
  }
  return devices;
}

class OpenCl : public Driver {
public:
  explicit OpenCl(int number) : cl(functions()) {
    std::vector<Handle> devices = allDevicesOf(cl);
    if (size_t(number) >= devices.size())
      throw Error("there is no device 'opencl:" + std::to_string(number) + "': OpenCL has " +
                  std::to_string(devices.size()) + (devices.size() == 1 ? " device" : " devices"));
    device = devices[size_t(number)];
    char text[256] = "";
    cl.clGetDeviceInfo(device, deviceName, sizeof(text) - 1, text, nullptr);
    name = "the device '" + std::string(text) + "'";
    if (uint32_t bits = read<uint32_t>(addressBits); bits != 0 && bits != 64)
      throw Error(name + " has addresses of " + std::to_string(bits) + " bits, expected 64");
    Status status = 0;
    context = cl.clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
    check(status, "use " + name);
    queue = cl.clCreateCommandQueue(context, device, 0, &status);
    check(status, "make a queue for " + name);
    if (const char *more = std::getenv("HEDDLE_OPENCL_OPTIONS"))
      options = more;
    if (const char *seconds = std::getenv("HEDDLE_OPENCL_SECONDS"); seconds && *seconds)
      limit = std::chrono::milliseconds(int64_t(std::max(0.001, std::atof(seconds)) * 1000));
    if (read<Bits>(singleFloats) & exactDivision)
      options += " -cl-fp32-correctly-rounded-divide-sqrt";
  }
  ~OpenCl() override {
    if (lost)
      return;
    if (queue) {
      cl.clFinish(queue);
      cl.clReleaseCommandQueue(queue);
    }
    if (context)
      cl.clReleaseContext(context);
  }

  bool isFast() const override { return !(read<Bits>(deviceType) & cpu); }

  Buffer allocate(int64_t bytes) override {
    requireAlive();
    Status status = 0;
    Buffer buffer = cl.clCreateBuffer(context, readWrite, size_t(bytes), nullptr, &status);
    if (std::ranges::count(outOfMemory, status))
      return nullptr;
    check(status, "allocate " + std::to_string(bytes) + " bytes on " + name);
    return buffer;
  }
  void release(Buffer buffer) noexcept override {
    if (!lost)
      cl.clReleaseMemObject(buffer);
  }

  void upload(Buffer to, int64_t offset, const void *from, int64_t bytes) override {
    wait();
    check(cl.clEnqueueWriteBuffer(queue, to, blocking, size_t(offset), size_t(bytes), from, 0,
                                  nullptr, nullptr),
          "copy " + std::to_string(bytes) + " bytes to " + name);
  }
  void download(void *to, Buffer from, int64_t offset, int64_t bytes) override {
    wait();
    check(cl.clEnqueueReadBuffer(queue, from, blocking, size_t(offset), size_t(bytes), to, 0,
                                 nullptr, nullptr),
          "copy " + std::to_string(bytes) + " bytes from " + name);
  }
  void copy(Buffer to, int64_t toOffset, Buffer from, int64_t fromOffset, int64_t bytes) override {
    requireAlive();
    check(cl.clEnqueueCopyBuffer(queue, from, to, size_t(fromOffset), size_t(toOffset),
                                 size_t(bytes), 0, nullptr, nullptr),
          "copy " + std::to_string(bytes) + " bytes on " + name);
  }

  Image loadKernel(const KernelImage &image) override {
    requireAlive();
    if (usesDoubles(image.bytes) && read<Bits>(doubleFloats) == 0)
      throw Error("the kernel '" + image.symbol + "' computes with f64, which " + name + " lacks");
    Status status = 0;
    Handle program =
        cl.clCreateProgramWithIL(context, image.bytes.data(), image.bytes.size(), &status);
    if (status == notSupported)
      throw Error(name + " takes no SPIR-V; expected one with OpenCL 2.1, or with 1.2 and SPIR-V");
    check(status, "load the kernel '" + image.symbol + "' on " + name);
    status = cl.clBuildProgram(program, 1, &device, options.c_str(), nullptr, nullptr);
    Handle kernel = nullptr;
    std::string log;
    if (status) {
      log.resize(2000);
      cl.clGetProgramBuildInfo(program, device, buildLog, log.size() - 1, log.data(), nullptr);
      log = ": " + std::string(log.c_str());
    } else {
      kernel = cl.clCreateKernel(program, image.symbol.c_str(), &status);
    }
    cl.clReleaseProgram(program); // the kernel keeps it
    if (status)
      throw Error(name + " can't compile the kernel '" + image.symbol + "': status " +
                  std::to_string(status) + log);
    if (std::string lack = lackOf(kernel, image); !lack.empty()) {
      cl.clReleaseKernel(kernel);
      throw Error("the kernel '" + image.symbol + "' needs " + lack);
    }
    return new Kernel{kernel, size_t(image.lanes)};
  }
  void unload(Image image) noexcept override {
    auto *kernel = static_cast<Kernel *>(image);
    if (!lost)
      cl.clReleaseKernel(kernel->handle);
    delete kernel;
  }

  void launch(Image image, int64_t blocks, const std::vector<Argument> &arguments) override {
    requireAlive();
    auto *kernel = static_cast<Kernel *>(image);
    for (size_t i = 0; i < arguments.size(); ++i) {
      const Argument &each = arguments[i];
      Status status = each.isBuffer ? cl.clSetKernelArg(kernel->handle, uint32_t(i), sizeof(Handle),
                                                        each.buffer ? &each.buffer : nullptr)
                                    : cl.clSetKernelArg(kernel->handle, uint32_t(i),
                                                        sizeof(int64_t), &each.number);
      check(status, "set argument " + std::to_string(i) + " of a kernel");
    }
    size_t lanes = size_t(blocks) * kernel->lanes;
    check(cl.clEnqueueNDRangeKernel(queue, kernel->handle, 1, nullptr, &lanes, &kernel->lanes, 0,
                                    nullptr, nullptr),
          "launch " + std::to_string(blocks) + " blocks on " + name);
    isBusy = true;
  }
  void finish() override {
    wait();
    check(cl.clFinish(queue), "finish on " + name);
  }

private:
  struct Kernel {
    Handle handle;
    size_t lanes;
  };
  void requireAlive() const {
    if (lost)
      throw Error(name + " is lost: a kernel did not end");
  }
  /// Waits for the launched kernels, so that no blocking call waits longer than the limit.
  void wait() {
    requireAlive();
    if (!isBusy)
      return;
    Handle marker = nullptr;
    Status status = cl.clEnqueueMarkerWithWaitList(queue, 0, nullptr, &marker);
    check(status ? status : cl.clFlush(queue), "wait for " + name);
    auto start = std::chrono::steady_clock::now();
    constexpr Status running = 1; // greater: it waits; 0: it has ended; less: it has failed
    while (!cl.clGetEventInfo(marker, executionStatus, sizeof status, &status, nullptr) &&
           status >= running) {
      auto waited = std::chrono::steady_clock::now() - start;
      if (waited > limit) {
        lost = true;
        throw Error(name + " has not finished after " + std::to_string(limit.count()) +
                    " ms (HEDDLE_OPENCL_SECONDS); it is lost");
      }
      // Short waits end soon; long ones take no time of the host.
      std::this_thread::sleep_for(
          std::min<std::chrono::nanoseconds>(waited / 8, std::chrono::milliseconds(1)));
    }
    cl.clReleaseEvent(marker);
    isBusy = false;
  }
  /// A fact about the device; 0 if it does not know it.
  template <typename T>
  T read(uint32_t what) const {
    T value = 0;
    return cl.clGetDeviceInfo(device, what, sizeof value, &value, nullptr) ? 0 : value;
  }
  /// What a kernel needs more of than the device has; empty: nothing.
  std::string lackOf(Handle kernel, const KernelImage &image) const {
    Bits shared = 0, most = read<Bits>(sharedBytes);
    size_t lanes = 0;
    cl.clGetKernelWorkGroupInfo(kernel, device, kernelSharedBytes, sizeof shared, &shared, nullptr);
    cl.clGetKernelWorkGroupInfo(kernel, device, kernelLanes, sizeof lanes, &lanes, nullptr);
    auto text = [&](Bits wanted, const char *what, Bits given) {
      return std::to_string(wanted) + " " + what + " in a block, " + name + " has " +
             std::to_string(given);
    };
    if (most > 0 && shared > most)
      return text(shared, "bytes of shared memory", most);
    if (lanes > 0 && size_t(image.lanes) > lanes)
      return text(Bits(image.lanes), "lanes", lanes);
    return "";
  }

  const Functions &cl;
  Handle device = nullptr, context = nullptr, queue = nullptr;
  std::string name, options;
  std::chrono::milliseconds limit = std::chrono::minutes(10);
  bool isBusy = false; ///< kernels were launched since the last wait
  bool lost = false;   ///< a kernel does not end
};
} // namespace

static DeviceRegistration registered(std::make_unique<StreamDevice>("opencl", [](int number) {
  return std::make_unique<OpenCl>(number);
}));
