"""Runs a program of wasm32-wasip1 with its arguments, in Wasmtime: `python3 run.py PROGRAM ARGS`.

It sees the whole file system and the environment. Needs the Python package wasmtime, which may be
in target/wasmtime.
"""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "target" / "wasmtime"))

import wasmtime  # noqa: E402

wasi = wasmtime.WasiConfig()
wasi.argv = sys.argv[1:]
wasi.env = list(os.environ.items())
wasi.preopen_dir("/", "/")
wasi.inherit_stdin()
wasi.inherit_stdout()
wasi.inherit_stderr()

engine = wasmtime.Engine()
store = wasmtime.Store(engine)
store.set_wasi(wasi)
linker = wasmtime.Linker(engine)
linker.define_wasi()
module = wasmtime.Module.from_file(engine, sys.argv[1])
start = linker.instantiate(store, module).exports(store)["_start"]
try:
    start(store)
except wasmtime.ExitTrap as end:
    sys.exit(end.code)
