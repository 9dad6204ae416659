//===- OpenCl.cpp - an OpenCL library that fails on request ---------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One device in the host's memory, whose kernels do nothing. Words in HEDDLE_FAKE_OPENCL say what
// it lacks: "device", "spirv", "f64", "shared", "lanes", "memory" (it has 2,000 bytes), "build",
// "launch", "finish", "address" (they have 32 bits), "end" (a kernel never ends, nor does a call
// that waits for it). With HEDDLE_OLD_OPENCL it is a library of OpenCL 1.1.
//
//===----------------------------------------------------------------------===//

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

using Status = int32_t;
using Handle = void *;

static bool isRunning; ///< a kernel that never ends

static bool lacks(const char *what) {
  const char *words = std::getenv("HEDDLE_FAKE_OPENCL");
  return words && std::strstr(words, what);
}
static Handle some() {
  static int thing;
  return &thing;
}
/// The result of a call that waits for kernels.
static void awaitKernels() {
  while (isRunning)
    pause();
}
static Handle made(Status *status, Status value = 0) {
  *status = value;
  return value ? nullptr : some();
}
static Status give(const void *value, size_t bytes, size_t room, void *to) {
  std::memcpy(to, value, bytes < room ? bytes : room);
  return 0;
}
static Status giveNumber(uint64_t number, size_t room, void *to) {
  return give(&number, sizeof number, room, to);
}

extern "C" {
Status clGetPlatformIDs(uint32_t, Handle *platforms, uint32_t *count) {
  platforms[0] = some();
  *count = 1;
  return 0;
}
Status clGetDeviceIDs(Handle, uint64_t, uint32_t, Handle *devices, uint32_t *count) {
  if (lacks("device"))
    return -1;
  devices[0] = some();
  *count = 1;
  return 0;
}
Status clGetDeviceInfo(Handle, uint32_t what, size_t room, void *to, size_t *) {
  switch (what) {
  case 0x1000: // type: a GPU
    return giveNumber(4, room, to);
  case 0x100D: // bits of an address
    return giveNumber(lacks("address") ? 32 : 64, room, to);
  case 0x1023: // bytes of shared memory
    return giveNumber(lacks("shared") ? 16 : 65536, room, to);
  case 0x102B: // name
    return give("fake", 5, room, to);
  case 0x1032: // f64
    return giveNumber(lacks("f64") ? 0 : 63, room, to);
  }
  return -30;
}
Handle clCreateContext(const intptr_t *, uint32_t, const Handle *, void *, void *, Status *status) {
  return made(status);
}
Status clReleaseContext(Handle) { return 0; }
Handle clCreateCommandQueue(Handle, Handle, uint64_t, Status *status) { return made(status); }
Status clReleaseCommandQueue(Handle) { return 0; }
Handle clCreateBuffer(Handle, uint64_t, size_t bytes, void *, Status *status) {
  if (lacks("memory") && bytes > 2000)
    return made(status, -4);
  *status = 0;
  return std::calloc(1, bytes);
}
Status clReleaseMemObject(Handle buffer) {
  std::free(buffer);
  return 0;
}
Status clEnqueueReadBuffer(Handle, Handle buffer, uint32_t, size_t offset, size_t bytes, void *to,
                           uint32_t, const Handle *, Handle *) {
  awaitKernels();
  std::memcpy(to, static_cast<char *>(buffer) + offset, bytes);
  return 0;
}
Status clEnqueueWriteBuffer(Handle, Handle buffer, uint32_t, size_t offset, size_t bytes,
                            const void *from, uint32_t, const Handle *, Handle *) {
  awaitKernels();
  std::memcpy(static_cast<char *>(buffer) + offset, from, bytes);
  return 0;
}
Status clEnqueueCopyBuffer(Handle, Handle from, Handle to, size_t fromOffset, size_t toOffset,
                           size_t bytes, uint32_t, const Handle *, Handle *) {
  std::memcpy(static_cast<char *>(to) + toOffset, static_cast<char *>(from) + fromOffset, bytes);
  return 0;
}
#ifndef HEDDLE_OLD_OPENCL
Handle clCreateProgramWithIL(Handle, const void *, size_t, Status *status) {
  return made(status, lacks("spirv") ? -59 : 0);
}
#endif
Status clBuildProgram(Handle, uint32_t, const Handle *, const char *, void *, void *) {
  return lacks("build") ? -11 : 0;
}
Status clGetProgramBuildInfo(Handle, Handle, uint32_t, size_t room, void *to, size_t *) {
  return give("no register is left", 20, room, to);
}
Status clReleaseProgram(Handle) { return 0; }
Handle clCreateKernel(Handle, const char *, Status *status) { return made(status); }
Status clReleaseKernel(Handle) { return 0; }
Status clGetKernelWorkGroupInfo(Handle, Handle, uint32_t what, size_t room, void *to, size_t *) {
  if (what == 0x11B2)
    return giveNumber(1024, room, to); // bytes of shared memory
  return giveNumber(lacks("lanes") ? 8 : 1024, room, to);
}
Status clSetKernelArg(Handle, uint32_t, size_t, const void *) { return 0; }
Status clEnqueueNDRangeKernel(Handle, Handle, uint32_t, const size_t *, const size_t *,
                              const size_t *, uint32_t, const Handle *, Handle *) {
  isRunning = lacks("end");
  return lacks("launch") ? -5 : 0;
}
Status clEnqueueMarkerWithWaitList(Handle, uint32_t, const Handle *, Handle *event) {
  *event = some();
  return 0;
}
Status clGetEventInfo(Handle, uint32_t, size_t room, void *to, size_t *) {
  return giveNumber(isRunning ? 1 : 0, room, to);
}
Status clReleaseEvent(Handle) { return 0; }
Status clFlush(Handle) { return 0; }
Status clFinish(Handle) {
  awaitKernels();
  return lacks("finish") ? -36 : 0;
}
}
