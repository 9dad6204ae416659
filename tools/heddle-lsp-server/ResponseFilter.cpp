//===- ResponseFilter.cpp - edits the server's answers --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ResponseFilter.h"

#include "heddle/Error.h"

#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <utility>

using namespace heddle;

static ResponseFilter *current = nullptr;

ResponseFilter::ResponseFilter(Change change) {
  int ends[2];
  int before = dup(STDOUT_FILENO);
  if (before < 0 || pipe(ends) != 0)
    throw Error(std::string("can't make a pipe: ") + std::strerror(errno));
  dup2(ends[1], STDOUT_FILENO);
  close(ends[1]);
  from = fdopen(ends[0], "r");
  to = fdopen(before, "w");
  thread = std::thread([this, change = std::move(change)] { pass(change); });
  current = this;
  static bool isFirst = true;
  if (std::exchange(isFirst, false))
    std::atexit([] {
      if (current)
        current->finish();
    });
}

void ResponseFilter::finish() {
  if (std::exchange(current, nullptr) != this)
    return;
  llvm::outs().flush();
  dup2(fileno(to), STDOUT_FILENO); // closes the pipe's last write end, which ends the thread
  thread.join();
  std::fclose(from);
  std::fclose(to);
}

/// A message is preceded by a line with its length and an empty line.
void ResponseFilter::pass(const Change &change) {
  char *line = nullptr;
  size_t room = 0, length = 0;
  for (ssize_t read; (read = getline(&line, &room, from)) > 0;) {
    if (std::sscanf(line, "Content-Length: %zu", &length) != 1) {
      std::fwrite(line, 1, size_t(read), to);
      continue;
    }
    std::string message(length, ' ');
    if (getline(&line, &room, from) < 0 || std::fread(message.data(), 1, length, from) != length)
      break;
    message = change(message);
    std::fprintf(to, "Content-Length: %zu\r\n\r\n%s", message.size(), message.c_str());
    std::fflush(to);
  }
  std::fflush(to);
  std::free(line);
}
