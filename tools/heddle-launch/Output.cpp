//===- Output.cpp - the output of ranks, line by line ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/heddle-launch/Output.h"

#include <cerrno>

#include <poll.h>
#include <unistd.h>

using namespace heddle;

/// Longer lines are cut, so that output without line ends can't fill the memory.
static constexpr size_t longestLine = 1 << 16;

static bool writeAll(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = write(to, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(size_t(written));
    } else if (errno == EAGAIN) { // a terminal that another process has made non-blocking
      pollfd waiting{to, POLLOUT, 0};
      poll(&waiting, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool Output::writeLines(bool all) {
  std::string text;
  size_t begin = 0;
  if (afterReturn && pending.starts_with("\n"))
    text = pending[begin++]; // "\r\n" was read in two parts
  while (begin < pending.size()) {
    size_t end = pending.find_first_of("\r\n", begin);
    if (end == std::string::npos && !all && pending.size() - begin < longestLine)
      break;
    if (end == std::string::npos)
      end = pending.size();
    else
      end += pending.compare(end, 2, "\r\n") == 0 ? 2 : 1;
    text += prefix;
    text.append(pending, begin, end - begin);
    std::string_view line(pending.data() + begin, end - begin);
    if (size_t length = line.find_last_not_of(" \t\r\n"); length != std::string_view::npos)
      last = line.substr(0, length + 1);
    if (text.back() != '\n' && text.back() != '\r')
      text += '\n';
    begin = end;
  }
  pending.erase(0, begin);
  afterReturn = text.empty() ? afterReturn : text.back() == '\r';
  return writeAll(to, text);
}

bool Output::copy() {
  char part[1 << 16];
  ssize_t got = read(from.get(), part, sizeof part);
  if (got < 0 && (errno == EAGAIN || errno == EINTR))
    return true;
  if (got > 0)
    pending.append(part, size_t(got));
  bool isOpen = writeLines(got <= 0) && got > 0;
  if (!isOpen) // if nobody reads the copy, the rank gets SIGPIPE, as without a launcher
    from = Socket();
  return isOpen;
}

void Output::finish() {
  pollfd ready{from.get(), POLLIN, 0};
  while (from && poll(&ready, 1, 0) > 0 && copy())
    ;
  writeLines(true);
  from = Socket();
}
