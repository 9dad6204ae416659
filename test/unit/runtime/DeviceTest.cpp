//===- DeviceTest.cpp - programs of other targets -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/unit/runtime/Programs.h"

#include "heddle/Error.h"
#include "runtime/device/Device.h"

using namespace heddle;

namespace {
/// Adds to each element the number that the program's code begins with; fails at its step if that is
/// 9.
class Adder : public Device {
public:
  std::string name() const override { return "adder"; }
  std::shared_ptr<DeviceProgram> load(const ProgramImage &image, std::string &error) override {
    struct Loaded : DeviceProgram {
      float number;
      Entry entry(const EntrySpec &) override { return {&run, &number}; }
      static int32_t run(HeddleCall *call, int32_t thread, int32_t) {
        float number = *static_cast<float *>(call->device);
        if (number == 9)
          return call->table->fail(call, 0, "nine is too much");
        for (int i = 0; i < 4 && thread == 0; ++i)
          static_cast<float *>(call->addresses[1])[i] =
              static_cast<float *>(call->addresses[0])[i] + number;
        return 0;
      }
    };
    if (image.code[0] < '0' || image.code[0] > '9') {
      error = "expected a digit";
      return nullptr;
    }
    auto program = std::make_shared<Loaded>();
    program->number = float(image.code[0] - '0');
    return program;
  }
};

ProgramImage adding(const std::string &code) {
  ProgramImage image = scaleImage();
  image.manifest.target = "adder";
  image.manifest.features.clear();
  image.manifest.entries[0].codeOffset = 0;
  image.code = code;
  return image;
}
} // namespace

TEST(Device, RunsTheProgramsOfItsName) {
  EXPECT_EQ(findDevice("adder"), nullptr);
  expectIn("no library that is loaded runs programs of 'adder'",
           errorOf<Error>([] { Program program(adding("3")); }));
  DeviceRegistration registered(std::make_unique<Adder>());
  Program program(adding("3")), other(adding("5"));
  EXPECT_EQ(valuesOf(program.run("scale", {{"x", tensorOf({1, 2, 3, 4})}})[0]),
            (std::vector<float>{4, 5, 6, 7}));
  EXPECT_EQ(valuesOf(other.run("scale", {{"x", tensorOf({1, 2, 3, 4})}})[0]),
            (std::vector<float>{6, 7, 8, 9}));
  expectIn("can't be loaded by the device 'adder': expected a digit",
           errorOf<Error>([] { Program program(adding("x")); }));
}

// Without hooks too: the step that fails says so itself.
TEST(Device, AFailedStepIsNamed) {
  DeviceRegistration registered(std::make_unique<Adder>());
  Program program(adding("9"));
  try {
    program.run("scale", {{"x", tensorOf({1, 2, 3, 4})}});
    FAIL() << "expected an error";
  } catch (const ExecutionError &error) {
    EXPECT_STREQ(error.what(), "'scale' failed at 'scale' (model.cpp:1:1): nine is too much");
  }
}
