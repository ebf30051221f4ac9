"""Makes a wheel of an installed lib/cairn: wheel.py LIB OUT VERSION GLIBC EPOCH; prints its name.

`pip install` then gives the command `cairn`, which becomes the binary inside of the package.
"""

import base64
import hashlib
import os
import platform
import sys
import time
import zipfile

lib, out, version, glibc, epoch = sys.argv[1:]
tag = f"py3-none-manylinux_{glibc.replace('.', '_')}_{platform.machine()}"
info = f"cairn_scheme-{version}.dist-info"
START = '''"""Cairn, an R7RS Scheme that compiles to native code: `cairn`, or `python3 -m cairn_scheme`."""

import os
import sys


def main():
    binary = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", "cairn")
    os.execv(binary, [binary] + sys.argv[1:])
'''
texts = {
    "cairn_scheme/__init__.py": START,
    "cairn_scheme/__main__.py": "from . import main\n\nmain()\n",
    f"{info}/METADATA": f"Metadata-Version: 2.1\nName: cairn-scheme\nVersion: {version}\n"
    "Summary: An R7RS Scheme that compiles to native code through LLVM\nLicense: Apache-2.0 OR MIT\n"
    "Requires-Python: >=3.8\n\nLLVM 19 (apt-get install libllvm19) makes the best code; without it, Cairn makes "
    "its own. `cairn build` needs a C compiler.\n",
    f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: cairn\nRoot-Is-Purelib: false\nTag: {tag}\n",
    f"{info}/entry_points.txt": "[console_scripts]\ncairn = cairn_scheme:main\n",
}
files = []
for folder, folders, names in os.walk(lib):
    folders.sort()
    for name in sorted(names):
        path = os.path.join(folder, name)
        files.append((f"cairn_scheme/lib/{os.path.relpath(path, lib)}", path))

name = os.path.join(out, f"cairn_scheme-{version}-{tag}.whl")
record = []
stamp = time.gmtime(int(epoch))[:6]
with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:

    def add(inside, data, mode):
        entry = zipfile.ZipInfo(inside, stamp)
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        wheel.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record.append(f"{inside},sha256={digest},{len(data)}\n")

    for inside, path in files:
        with open(path, "rb") as file:
            add(inside, file.read(), os.stat(path).st_mode & 0o777)
    for inside, text in texts.items():
        add(inside, text.encode(), 0o644)
    record.append(f"{info}/RECORD,,\n")
    entry = zipfile.ZipInfo(f"{info}/RECORD", stamp)
    entry.external_attr = 0o100644 << 16
    wheel.writestr(entry, "".join(record))
print(name)
