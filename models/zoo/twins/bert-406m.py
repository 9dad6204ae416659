# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""BERT of Flashlight's benchmark (Kahn et al., 2022), 406 M parameters, with a separate output."""
import importlib

bert = importlib.import_module("bert")
SETTINGS = dict(bert.SETTINGS, full=dict(words=50000, length=512, features=1024, heads=16, layers=24, dropout=0.1))


def build(size):
    return bert.Bert(**SETTINGS[size], tied=False)


def SIZES(size):
    setting = SETTINGS[size]
    return {"head": setting["heads"], "depth": setting["features"] // setting["heads"]}


example, loss, FIELDS, NAMES, SEEN = bert.example, bert.loss, bert.FIELDS, bert.NAMES, bert.SEEN
