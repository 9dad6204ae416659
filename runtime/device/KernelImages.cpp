//===- KernelImages.cpp - the code of a program for a device --------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/KernelImages.h"

#include <sstream>

using namespace heddle;

std::string heddle::writeImage(const KernelImage &image) {
  return "kernel " + image.symbol + " " + std::to_string(image.lanes) + " " +
         std::to_string(image.chunks) + " " + std::to_string(image.bytes.size()) +
         (image.code.empty() ? "" : " " + std::to_string(image.code.size())) + "\n" + image.bytes +
         image.code;
}

std::optional<std::vector<KernelImage>> heddle::readImages(std::string_view code,
                                                           std::string &error) {
  std::vector<KernelImage> images;
  while (!code.empty()) {
    size_t end = code.find('\n');
    std::istringstream line{std::string(code.substr(0, end))};
    std::string word;
    KernelImage image;
    size_t bytes = 0, more = 0;
    if (end == code.npos ||
        !(line >> word >> image.symbol >> image.lanes >> image.chunks >> bytes) ||
        (!line.eof() && !(line >> more)) || !line.eof() || word != "kernel" || image.lanes < 1 ||
        image.chunks < 1 || bytes > code.size() - end - 1 || more > code.size() - end - 1 - bytes) {
      error = "expected a kernel " + std::to_string(code.size()) +
              " bytes before the end of its code, got '" +
              std::string(code.substr(0, std::min<size_t>(end, 60))) + "'";
      return std::nullopt;
    }
    image.bytes = code.substr(end + 1, bytes);
    image.code = code.substr(end + 1 + bytes, more);
    code.remove_prefix(end + 1 + bytes + more);
    images.push_back(std::move(image));
  }
  return images;
}
