//===- Extension.cpp - loads plugins --------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/pipelines/Extension.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

using namespace heddle;

Extension::~Extension() = default;

llvm::Expected<std::shared_ptr<const Extension>> heddle::loadExtension(const std::string &path) {
  auto fail = [&](const std::string &reason) {
    return llvm::createStringError("can't load the plugin '" + path + "': " + reason);
  };
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return fail(file.getError().message());
  // Without a slash, dlopen would search the system's libraries.
  std::string libraryPath = path.find('/') == std::string::npos ? "./" + path : path;
  std::string error;
  auto library = llvm::sys::DynamicLibrary::getPermanentLibrary(libraryPath.c_str(), &error);
  if (!library.isValid())
    return fail(error);
  auto interface =
      reinterpret_cast<const char *(*)()>(library.getAddressOfSymbol("heddleExtensionInterface"));
  auto make = reinterpret_cast<Extension *(*)()>(library.getAddressOfSymbol("heddleMakeExtension"));
  if (!interface || !make)
    return fail("it holds no HEDDLE_EXTENSION");
  if (std::string(interface()) != HEDDLE_EXTENSION_INTERFACE)
    return fail(std::string("expected the interface ") + HEDDLE_EXTENSION_INTERFACE + ", got " +
                interface() + ": build it against this version");
  std::shared_ptr<Extension> extension(make());
  extension->name = llvm::sys::path::stem(path).str();
  extension->key = llvm::toHex(
      llvm::SHA256::hash(llvm::arrayRefFromStringRef((*file)->getBuffer())), /*LowerCase=*/true);
  return extension;
}

llvm::Error heddle::loadExtensions(llvm::ArrayRef<std::string> paths, Extensions &extensions) {
  for (const std::string &path : paths) {
    auto extension = loadExtension(path);
    if (!extension)
      return extension.takeError();
    extensions.push_back(std::move(*extension));
  }
  return llvm::Error::success();
}
