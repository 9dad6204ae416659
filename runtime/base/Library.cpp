//===- Library.cpp - a shared library that is opened by name --------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/base/Library.h"

#include "heddle/Error.h"

#include <dlfcn.h>

using namespace heddle;

Library::Library(const std::string &given)
    : name(given), handle(dlopen(given.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (!handle)
    throw Error(dlerror());
}

Library::~Library() { dlclose(handle); }

void *Library::find(const std::string &symbol) const { return dlsym(handle, symbol.c_str()); }
