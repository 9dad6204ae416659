//===- ImageFolder.h - image files, a folder for each class -----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     pets/cat/1.jpg  pets/cat/2.png  pets/dog/1.jpg
//
//     nn::ImageFolder pets("pets", {.rows = 32, .columns = 32});
//     pets.classes()                           // {"cat", "dog"}: labels 0 and 1
//     Loader loader(pets, {.batch = 64, .threads = 4, .skipDamaged = true});
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_DATA_IMAGEFOLDER_H
#define HEDDLE_NN_DATA_IMAGEFOLDER_H

#include "heddle/nn/data/Dataset.h"

namespace heddle::nn {

/// The pixels of a PNG or JPEG file, ui8 {row, column, channel}, of 1 channel (grey) or 3. Throws
/// DamagedSample that names the file if it is damaged, truncated or of another format, and Error if
/// it can't be read.
io::HostArray readImage(const std::string &path, int channels = 3, Here here = Here::current());

/// Resizes an image by a triangle filter whose half-width is the distance of the new pixels:
/// bilinear interpolation where it grows, antialiased where it shrinks. The element type, f32 or
/// ui8, is kept.
io::HostArray resized(const io::HostArray &image, int64_t rows, int64_t columns,
                      Here here = Here::current());

struct ImageFolderOptions {
  int64_t rows = 0, columns = 0; ///< the size to which images are resized
  int channels = 3;              ///< 1: grey
  float mean = 0, deviation = 1; ///< pixels become (pixel / 255 - mean) / deviation
};

/// Samples of an "image", f32 {row, column, channel}, and a "label", i32: the number of its class
/// in alphabetical order. Files without the extension .png, .jpg or .jpeg are ignored.
class ImageFolder : public Dataset {
public:
  /// Throws Error that names the folder if it can't be read, has no folder inside or no image, and
  /// for sizes below 1.
  explicit ImageFolder(const std::string &folder, const ImageFolderOptions &options,
                       Here here = Here::current());
  int64_t count() const override { return int64_t(files.size()); }
  std::vector<Field> fields() const override;
  Sample read(int64_t index) const override;
  const std::vector<std::string> &classes() const { return names; }

private:
  struct File {
    std::string path;
    int32_t label;
  };
  ImageFolderOptions options;
  std::vector<std::string> names;
  std::vector<File> files;
};

} // namespace heddle::nn

#endif // HEDDLE_NN_DATA_IMAGEFOLDER_H
