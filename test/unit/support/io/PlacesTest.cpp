//===- PlacesTest.cpp - errors of files name the caller -------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files.h"
#include "heddle/io/AtomicFile.h"
#include "heddle/io/DirectoryLock.h"
#include "heddle/io/Idx.h"
#include "heddle/io/Npy.h"
#include "heddle/io/Png.h"
#include "heddle/io/Safetensors.h"

using namespace heddle;
using namespace heddle::io;
using namespace heddle::test;

/// Expects an Error that begins with `line` of this file and goes on with `rest`.
template <typename Action>
static void expectPlace(unsigned line, const std::string &rest, Action &&action) {
  std::string text = messageOf(action), file = __FILE__;
  EXPECT_TRUE(text.starts_with(file + ":" + std::to_string(line) + ":")) << line << ": " << text;
  EXPECT_EQ(text.find(file, 1), std::string::npos) << text; // once
  size_t end = text.find(": ");
  EXPECT_TRUE(end != text.npos && text.substr(end + 2).starts_with(rest)) << rest << ": " << text;
}

TEST(Places, OfFilesThatAreRead) {
  TemporaryDirectory directory;
  std::string short3 = directory.write("a", "abc"), quoted = "'" + short3 + "': ";
  expectPlace(__LINE__, quoted + "truncated", [&] { readIdx(short3); });
  expectPlace(__LINE__, quoted + "truncated", [&] { readNpy(short3); });
  expectPlace(__LINE__, quoted + "truncated", [&] { readSafetensors(short3); });
  expectPlace(__LINE__, "'none': can't open", [&] { readIdx("none"); });
  expectPlace(__LINE__, "'none': can't open", [&] { readNpy("none"); });
  expectPlace(__LINE__, "'none': can't open", [&] { readSafetensors("none"); });
  expectPlace(__LINE__, "no array 'w'", [&] { (void)Safetensors().at("w"); });
  // A program that read the path from its command line has no source location.
  EXPECT_TRUE(messageOf([&] { readIdx("none", {}); }).starts_with("'none': "));
}

TEST(Places, OfFilesThatAreWritten) {
  TemporaryDirectory directory;
  std::string path = directory / "none/a", refusal = "can't write '" + path + "'";
  HostArray array;
  Safetensors taken;
  taken.arrays["__metadata__"] = array;
  expectPlace(__LINE__, refusal, [&] { writeNpy(path, array); });
  expectPlace(__LINE__, refusal, [&] { writeSafetensors(path, {}); });
  expectPlace(__LINE__, "'a': the name", [&] { writeSafetensors("a", taken); });
  auto text = [](FileSink &sink) { sink.write("text"); };
  expectPlace(__LINE__, refusal, [&] { writeFileAtomically(path, text); });
  auto many = [](FileSink &sink) { sink.write(std::string(1 << 20, 'x')); };
  expectPlace(__LINE__, "can't write '/dev/full'", [&] { writeFileAtomically("/dev/full", many); });
  expectPlace(__LINE__, "can't write '/dev/full'", [&] { writeFileAtomically("/dev/full", text); });
  expectPlace(__LINE__, "expected an image", [&] { encodePng(array); });
  // An Error of the callback is passed on unchanged.
  auto own = [](FileSink &) { throw Error("no more"); };
  EXPECT_EQ(messageOf([&] { writeFileAtomically(directory / "a", own); }), "no more");
}

TEST(Places, OfDirectoriesThatAreLocked) {
  TemporaryDirectory directory;
  DirectoryLock lock(directory.path);
  expectPlace(__LINE__, "the directory '", [&] { DirectoryLock second(directory.path); });
  expectPlace(__LINE__, "'none/run.lock'", [&] { DirectoryLock second("none"); });
}
