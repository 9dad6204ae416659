//===- Meters.cpp - means, rates and progress -----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Meters.h"

#include <algorithm>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace heddle::nn;

void Stopwatch::start() {
  if (running)
    return;
  running = true;
  begin = now();
}

void Stopwatch::stop() {
  if (running)
    before += now() - begin;
  running = false;
}

double Stopwatch::seconds() const {
  Clock::duration all = before + (running ? now() - begin : Clock::duration{});
  return std::chrono::duration<double>(all).count();
}

double Rate::perSecond() const {
  double seconds = watch.seconds();
  return seconds > 0 ? double(counted) / seconds : 0;
}

ProgressBar::ProgressBar(std::string title, int64_t total, int64_t from, int stream,
                         Stopwatch::Now now)
    : title(std::move(title)), total(total), from(from), stream(stream), now(std::move(now)),
      terminal(isatty(stream) == 1), begin(this->now()),
      last(terminal ? begin - std::chrono::hours(1) : begin) {}

static void put(int stream, const std::string &text) {
  // A failed write of the progress bar must not end the run.
  [[maybe_unused]] ssize_t written = write(stream, text.data(), text.size());
}

ProgressBar::~ProgressBar() {
  if (drawn)
    put(stream, "\r\033[K");
}

std::string ProgressBar::line(const std::string &title, int64_t done, int64_t total,
                              const std::string &text, double secondsLeft, int width) {
  std::string left;
  if (secondsLeft >= 0) {
    int seconds = int(secondsLeft + 0.5);
    left = "  " + (seconds >= 60 ? std::to_string(seconds / 60) + " min " : std::string()) +
           std::to_string(seconds % 60) + " s left";
  }
  std::string count = std::to_string(total);
  std::string at = std::to_string(done);
  at.insert(0, count.size() - std::min(count.size(), at.size()), ' ');
  std::string tail = " " + at + "/" + count + "  " + text + left;
  int room = width - int(title.size()) - int(tail.size()) - 4;
  int bar = std::min(room, 30);
  std::string result = title + " ";
  if (bar >= 4) {
    int full = total > 0 ? int(int64_t(bar) * std::clamp<int64_t>(done, 0, total) / total) : bar;
    result += "[" + std::string(size_t(full), '#') + std::string(size_t(bar - full), '.') + "]";
  }
  result += tail;
  if (width > 1 && result.size() >= size_t(width))
    result.resize(size_t(width) - 1);
  return result;
}

void ProgressBar::show(int64_t done, const std::string &text) {
  using namespace std::chrono_literals;
  if (stream < 0)
    return;
  Stopwatch::Clock::time_point time = now();
  if (time - last < (terminal ? 100ms : 30s))
    return;
  last = time;
  double spent = std::chrono::duration<double>(time - begin).count();
  double left = done > from ? spent / double(done - from) * double(total - done) : -1;
  if (!terminal)
    return put(stream, line(title, done, total, text, left, /*width=*/0) + "\n");
  winsize size{};
  int width = ioctl(stream, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
  put(stream, "\r" + line(title, done, total, text, left, width) + "\033[K");
  drawn = true;
}

int64_t heddle::nn::peakMemoryBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t(usage.ru_maxrss) * 1024;
}
