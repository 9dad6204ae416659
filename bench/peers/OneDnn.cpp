//===- OneDnn.cpp - oneDNN ------------------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "bench/peers/Peers.h"

#if HEDDLE_HAVE_ONEDNN
#include <dlfcn.h>
#include <dnnl.hpp>
#endif

using namespace heddle;
using namespace heddle::bench;

#if HEDDLE_HAVE_ONEDNN
using namespace dnnl;

namespace {
/// oneDNN uses OpenMP's threads.
void useThreads(int threads) {
  if (auto set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads")))
    set(threads);
}

memory::data_type typeOf(const std::string &dtype) {
  return dtype == "bf16" ? memory::data_type::bf16 : memory::data_type::f32;
}

std::string nameOf(const char *implementation) {
  // "brgemm:avx512_core", for example, shows which kernels an old library chose on a new CPU.
  return std::string("onednn-") + implementation;
}

/// Memory filled with values that keep arithmetic fast (no denormals).
memory filled(const memory::desc &description, const engine &cpu) {
  memory result(description, cpu);
  if (description.data_type() == memory::data_type::f32)
    std::fill_n(static_cast<float *>(result.get_data_handle()), description.get_size() / 4, 0.5f);
  else
    std::fill_n(static_cast<uint16_t *>(result.get_data_handle()), description.get_size() / 2,
                uint16_t(0x3f00));
  return result;
}

System systemFor(const primitive &work, std::unordered_map<int, memory> arguments,
                 const engine &cpu, int threads, const char *implementation) {
  auto queue = std::make_shared<stream>(cpu);
  return {.name = nameOf(implementation),
          .once =
              [work, arguments, queue, threads] {
                useThreads(threads);
                work.execute(*queue, arguments);
                queue->wait();
              },
          .peer = true};
}
} // namespace

std::vector<System> bench::oneDnnMatmul(const MatmulShape &s, const std::string &dtype,
                                        int threads) {
  useThreads(threads);
  engine cpu(engine::kind::cpu, 0);
  auto type = typeOf(dtype);
  memory::desc a({s.m, s.k}, type, memory::format_tag::ab),
      b({s.k, s.n}, type, memory::format_tag::ab), c({s.m, s.n}, type, memory::format_tag::ab);
  try {
    matmul::primitive_desc plan(matmul::desc(a, b, c), cpu);
    return {systemFor(matmul(plan),
                      {{DNNL_ARG_SRC, filled(a, cpu)},
                       {DNNL_ARG_WEIGHTS, filled(b, cpu)},
                       {DNNL_ARG_DST, filled(c, cpu)}},
                      cpu, threads, plan.impl_info_str())};
  } catch (const error &) {
    return {}; // this type is not supported on this CPU
  }
}

std::vector<System> bench::oneDnnConvolution(const ConvolutionShape &s, Direction direction,
                                             const std::string &dtype, int threads) {
  useThreads(threads);
  engine cpu(engine::kind::cpu, 0);
  auto type = typeOf(dtype);
  auto any = memory::format_tag::any;
  memory::desc x({s.batch, s.in, s.row, s.column}, type, any),
      w({s.out, s.in, s.window, s.window}, type, any),
      y({s.batch, s.out, s.rows(), s.columns()}, type, any);
  auto padding = [&](int64_t size, int64_t windows) {
    int64_t all = std::max<int64_t>(0, (windows - 1) * s.stride + s.window - size);
    return std::pair(all / 2, all - all / 2);
  };
  auto [top, bottom] = padding(s.row, s.rows());
  auto [left, right] = padding(s.column, s.columns());
  memory::dims strides{s.stride, s.stride}, low{top, left}, high{bottom, right};
  auto algorithm = algorithm::convolution_direct;
  try {
    convolution_forward::primitive_desc forward(
        convolution_forward::desc(prop_kind::forward_training, algorithm, x, w, y, strides, low,
                                  high),
        cpu);
    if (direction == Direction::Forward)
      return {systemFor(convolution_forward(forward),
                        {{DNNL_ARG_SRC, filled(forward.src_desc(), cpu)},
                         {DNNL_ARG_WEIGHTS, filled(forward.weights_desc(), cpu)},
                         {DNNL_ARG_DST, filled(forward.dst_desc(), cpu)}},
                        cpu, threads, forward.impl_info_str())};
    if (direction == Direction::Data) {
      convolution_backward_data::primitive_desc plan(
          convolution_backward_data::desc(algorithm, x, w, y, strides, low, high), cpu, forward);
      return {systemFor(convolution_backward_data(plan),
                        {{DNNL_ARG_DIFF_SRC, filled(plan.diff_src_desc(), cpu)},
                         {DNNL_ARG_WEIGHTS, filled(plan.weights_desc(), cpu)},
                         {DNNL_ARG_DIFF_DST, filled(plan.diff_dst_desc(), cpu)}},
                        cpu, threads, plan.impl_info_str())};
    }
    convolution_backward_weights::primitive_desc plan(
        convolution_backward_weights::desc(algorithm, x, w, y, strides, low, high), cpu, forward);
    return {systemFor(convolution_backward_weights(plan),
                      {{DNNL_ARG_SRC, filled(plan.src_desc(), cpu)},
                       {DNNL_ARG_DIFF_WEIGHTS, filled(plan.diff_weights_desc(), cpu)},
                       {DNNL_ARG_DIFF_DST, filled(plan.diff_dst_desc(), cpu)}},
                      cpu, threads, plan.impl_info_str())};
  } catch (const error &) {
    return {};
  }
}
#else
std::vector<System> bench::oneDnnMatmul(const MatmulShape &, const std::string &, int) {
  return {};
}
std::vector<System> bench::oneDnnConvolution(const ConvolutionShape &, Direction,
                                             const std::string &, int) {
  return {};
}
#endif
