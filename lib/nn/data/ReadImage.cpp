//===- ReadImage.cpp - PNG and JPEG files ---------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/data/ImageFolder.h"
#include "lib/support/io/File.h"

#include <csetjmp>
#include <cstdio> // jpeglib.h needs it
#include <jpeglib.h>
#include <png.h>

using namespace heddle;
using namespace heddle::nn;

static constexpr int64_t mostPixels = int64_t(1) << 28;

static io::HostArray emptyImage(int64_t rows, int64_t columns, int channels) {
  if (rows > mostPixels / std::max<int64_t>(columns, 1))
    throw Error("an image of " + std::to_string(rows) + " x " + std::to_string(columns) +
                " pixels is too large");
  return io::HostArray::zeros(ElementType::UI8, {rows, columns, channels},
                              {"row", "column", "channel"}, Here());
}

/// Both throw Error with the reason.
static io::HostArray decodePng(const io::Bytes &bytes, int channels) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()))
    throw Error(png.message);
  png.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  io::HostArray image;
  try {
    image = emptyImage(png.height, png.width, channels);
  } catch (...) {
    png_image_free(&png);
    throw;
  }
  png_color black{}; // the background of transparent pixels
  if (!png_image_finish_read(&png, &black, image.bytes.data(), 0, nullptr))
    throw Error(png.message);
  return image;
}

namespace {
/// libjpeg reports errors by a function that must not return, and damage that it can conceal as
/// warnings.
struct JpegErrors : jpeg_error_mgr {
  std::jmp_buf failed;
  char text[JMSG_LENGTH_MAX] = "";
  static void exit(j_common_ptr info) {
    auto *self = static_cast<JpegErrors *>(info->err);
    self->format_message(info, self->text);
    std::longjmp(self->failed, 1);
  }
  static void message(j_common_ptr info, int level) {
    if (level < 0)
      exit(info);
  }
};
} // namespace

/// The part that libjpeg leaves by longjmp, so it has no objects with destructors. Returns false on
/// failure. The first call reads the size; the second one gets `image`, which the caller has
/// allocated by then.
static bool decodeJpeg(jpeg_decompress_struct &info, JpegErrors &errors, const io::Bytes &bytes,
                       int channels, io::HostArray *image) {
  if (setjmp(errors.failed))
    return false;
  if (!image) {
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, reinterpret_cast<const unsigned char *>(bytes.data()), bytes.size());
    jpeg_read_header(&info, TRUE);
    info.out_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_calc_output_dimensions(&info);
    return true;
  }
  jpeg_start_decompress(&info);
  while (info.output_scanline < info.output_height) {
    JSAMPROW line = reinterpret_cast<JSAMPROW>(image->bytes.data()) +
                    size_t(info.output_scanline) * info.output_width * size_t(channels);
    jpeg_read_scanlines(&info, &line, 1);
  }
  jpeg_finish_decompress(&info);
  return true;
}

static io::HostArray decodeJpeg(const io::Bytes &bytes, int channels) {
  jpeg_decompress_struct info{};
  JpegErrors errors;
  info.err = jpeg_std_error(&errors);
  errors.error_exit = JpegErrors::exit;
  errors.emit_message = JpegErrors::message;
  std::unique_ptr<jpeg_decompress_struct, void (*)(jpeg_decompress_struct *)> owner(
      &info, jpeg_destroy_decompress);
  if (!decodeJpeg(info, errors, bytes, channels, nullptr))
    throw Error(errors.text);
  io::HostArray image = emptyImage(info.output_height, info.output_width, channels);
  if (!decodeJpeg(info, errors, bytes, channels, &image))
    throw Error(errors.text);
  return image;
}

io::HostArray nn::readImage(const std::string &path, int channels, Here here) {
  if (channels != 1 && channels != 3)
    throw Error("expected 1 or 3 channels, got " + std::to_string(channels), here);
  io::Bytes bytes;
  io::located(here, [&] {
    io::InputFile file(path);
    file.read(0, bytes, file.size(), "the image");
  });
  auto begins = [&](std::string_view magic) {
    return bytes.size() >= magic.size() &&
           std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
  };
  try {
    if (begins("\x89PNG"))
      return decodePng(bytes, channels);
    if (begins("\xff\xd8"))
      return decodeJpeg(bytes, channels);
    throw Error("neither a PNG nor a JPEG file");
  } catch (const Error &error) {
    throw DamagedSample("'" + path + "': damaged image: " + error.what(), here);
  }
}
