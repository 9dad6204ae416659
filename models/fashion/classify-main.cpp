//===- classify-main.cpp - classify with the runtime alone ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the program file that `fashion` writes on the test images. It links no compiler, as a
// deployed program would.
//
//===----------------------------------------------------------------------===//

#include "heddle/runtime_c.h"
#include "models/fashion/Classify.h"

#include <CLI/CLI.hpp>

int main(int argc, char **argv) {
  std::string folder = "fashion-output", data;
  int64_t limit = INT64_MAX;
  int threads = 0;
  CLI::App app("Classifies the test images of Fashion-MNIST with a compiled program.");
  app.set_version_flag("--version", heddle_runtime_version());
  app.add_option("--output", folder,
                 "Directory with fashion's output: classifier.heddle and "
                 "classifier.safetensors")
      ->capture_default_str();
  app.add_option("--data", data,
                 "Directory of the IDX files; empty: where Debian's package puts them");
  app.add_option("--threads", threads, "Threads; 0 for all cores")->capture_default_str();
  app.add_option("--limit", limit, "Use only this many images")->group("");
  CLI11_PARSE(app, argc, argv);
  try {
    auto images = heddle::nn::fashionMnist(false, data);
    images.limit(limit);
    auto predicted = fashion::classifyWithRuntime(
        folder + "/classifier.heddle", folder + "/classifier.safetensors", images, threads);
    printf("%lld of %lld images right\n", (long long)fashion::countRight(images, predicted),
           (long long)images.count());
    return 0;
  } catch (const std::exception &error) {
    fprintf(stderr, "fashion-classify: %s\n", error.what());
    return 1;
  }
}
