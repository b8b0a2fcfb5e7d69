"""Zips a function as Lambda takes it: `bootstrap` and `config/` at the top.

Usage: zip_function.py ZIP BOOTSTRAP CONFIG_FOLDER. Stored, not compressed: the
zip travels over loopback, and compressing takes longer than the whole rest.
"""

import pathlib
import sys
import zipfile


def main(target, bootstrap, config):
    config = pathlib.Path(config)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        archive.write(bootstrap, "bootstrap")
        for file in sorted(config.rglob("*")):
            archive.write(file, pathlib.Path("config") / file.relative_to(config))


if __name__ == "__main__":
    main(*sys.argv[1:])
