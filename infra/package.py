"""Puts a configuration beside the functions, and makes release zips of them.

  package.py configure FOLDER ENDPOINTS
      copies ENDPOINTS, with the vendors/*.toml beside it and the files that it
      names as `file:NAME`, into the config/ of each function below FOLDER.
      Refuses a file that names a vendor which is neither beside it nor built
      in. Compiles nothing.
  package.py release FOLDER ARCHITECTURE VERSION TARGET
      writes TARGET, a zip that unpacks to what `sam deploy` takes as it is. Its
      infra/ has the configuration that was put beside the functions.

Only the standard library is used, so that a team without Rust can run it.
"""

import itertools
import pathlib
import re
import shutil
import sys
import zipfile

FUNCTIONS = ("ingest", "processor", "sweeper")
# Lambda loads a function's zip with each cold start.
LARGEST_ZIP = 5 * 1024 * 1024
# Python reads TOML 1.0, in which a table in braces stands on one line; the
# functions read 1.1. Of the file nothing but its strings is asked for here.
STRING_OR_COMMENT = re.compile(r"""#[^\n]*|"(?P<basic>(?:[^"\\\n]|\\.)*)"|'(?P<literal>[^'\n]*)'""")
# What stands in front of the name of an endpoint's vendor.
NAMES_A_VENDOR = re.compile(r"(?<![\w.\"'-])vendor[ \t]*=[ \t]*$")
# In a release, which has no shared/core/vendors: their names, one a line.
BUILT_IN = "built-in-vendors.txt"
# Zips know no year before, and the same input is to give the same bytes.
BEGINNING = (1980, 1, 1, 0, 0, 0)


class Refused(Exception):
    """What is missing or wrong, for a person to read."""


def configure(folder, endpoints):
    """Copies a configuration into each function's folder."""
    folder, endpoints = pathlib.Path(folder), pathlib.Path(endpoints)
    if not endpoints.is_file():
        raise Refused(f"{endpoints} is no file: name your endpoints.toml")
    vendors = sorted((endpoints.parent / "vendors").glob("*.toml"))
    files = named_files(endpoints)
    known = {vendor.stem for vendor in vendors} | set(built_in())
    unknown = sorted(named_vendors(endpoints) - known)
    if unknown:
        # Functions with such a file cannot start: every delivery would be answered 5xx.
        raise Refused(f"{endpoints} names vendors that are neither in {endpoints.parent / 'vendors'} "
                      f"nor built in: {', '.join(unknown)}")
    for function in FUNCTIONS:
        if not (folder / function / "bootstrap").is_file():
            raise Refused(f"{folder / function} has no bootstrap: run make package, or unpack a release")
        config = folder / function / "config"
        shutil.rmtree(config, ignore_errors=True)
        (config / "vendors").mkdir(parents=True)
        shutil.copyfile(endpoints, config / "endpoints.toml")
        for vendor in vendors:
            shutil.copyfile(vendor, config / "vendors" / vendor.name)
        for file in files:
            source, target = endpoints.parent / file, config / file
            target.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if source.is_dir() else shutil.copyfile)(source, target)
    more = f", and {len(files)} files that it names" if files else ""
    print(f"{endpoints} with {len(vendors)} vendor files{more}: beside the functions in {folder}")


def built_in():
    """The names of the vendors that come with the functions."""
    infra = pathlib.Path(__file__).resolve().parent
    described = sorted(vendor.stem for vendor in (infra.parent / "shared/core/vendors").glob("*.toml"))
    listed = infra / BUILT_IN
    if not described and not listed.is_file():
        raise Refused(f"{listed} is missing: which vendors are built in?")
    return described or listed.read_text().split()


def strings(endpoints):
    """Each string of the configuration, with what stands in front of it."""
    text = endpoints.read_text()
    for quoted in STRING_OR_COMMENT.finditer(text):
        yield text[:quoted.start()].rpartition("\n")[2], quoted["basic"] or quoted["literal"] or ""


def named_vendors(endpoints):
    """The vendors of the endpoints."""
    return {value for before, value in strings(endpoints) if NAMES_A_VENDOR.search(before)}


def named_files(endpoints):
    """What the configuration names as `file:NAME` and lies beside it. Where a
    part of the name is a tenant's, the folder above it."""
    named = set()
    for _, value in strings(endpoints):
        path = pathlib.PurePosixPath(value.removeprefix("file:"))
        if value.startswith("file:") and not path.is_absolute():
            named.add(pathlib.PurePosixPath(*itertools.takewhile(lambda part: "{" not in part, path.parts)))
    missing = sorted(str(file) for file in named if not (endpoints.parent / file).exists())
    if missing:
        raise Refused(f"{endpoints} names files that are not beside it: {', '.join(missing)}")
    return sorted(named)


def release(folder, architecture, version, target):
    """Writes one zip with the functions, the template and these tools."""
    folder, target = pathlib.Path(folder), pathlib.Path(target)
    infra = pathlib.Path(__file__).resolve().parent
    top = f"sekali-{version}-{architecture}"
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        write(archive, f"{top}/infra/template.yaml", template(infra, architecture))
        for file in ("package.py", "scaling.py", "edge.yaml", "vendors/README.md"):
            write(archive, f"{top}/infra/{file}", (infra / file).read_bytes())
        write(archive, f"{top}/infra/{BUILT_IN}", "".join(f"{name}\n" for name in built_in()).encode())
        write(archive, f"{top}/README.md", (infra.parent / "README.md").read_bytes())
        # As it is configured now, not as it came with the checkout: whoever
        # unpacks it changes this, and configures anew.
        for file in configured(folder):
            write(archive, f"{top}/infra/{file.relative_to(folder / FUNCTIONS[0] / 'config')}", file.read_bytes())
        for page in sorted((infra.parent / "docs").glob("*.md")):
            write(archive, f"{top}/docs/{page.name}", page.read_bytes())
        for function in FUNCTIONS:
            within_budget(folder, function)
            for file in sorted((folder / function).rglob("*")):
                inside = file.relative_to(folder / function)
                # A release is handed on: never with the secrets of `file:NAME`.
                if file.is_file() and (file.suffix == ".toml" or inside == pathlib.Path("bootstrap")):
                    name = f"{top}/target/lambda/{function}/{inside}"
                    write(archive, name, file.read_bytes(), executable=file.name == "bootstrap")
    print(f"{target}: unpack it and run `sam deploy --guided --template infra/template.yaml` in {top}")


def configured(folder):
    """The endpoints and vendors beside the functions."""
    config = folder / FUNCTIONS[0] / "config"
    endpoints = config / "endpoints.toml"
    if not endpoints.is_file():
        raise Refused(f"{endpoints} is missing: run make config")
    return [endpoints, *sorted((config / "vendors").glob("*.toml"))]


def template(infra, architecture):
    """The template with what this release was built for as its default."""
    text = (infra / "template.yaml").read_text()
    default = "    Default: arm64\n"
    if text.count(default) != 1:
        raise Refused("infra/template.yaml says its default architecture in another way than this script knows")
    return text.replace(default, f"    Default: {architecture}\n").encode()


def within_budget(folder, function):
    """Refuses a function that has outgrown its budget."""
    bootstrap = folder / function / "bootstrap"
    if not bootstrap.is_file():
        raise Refused(f"{bootstrap} is missing: run make package")
    measured = zipfile.ZipInfo("bootstrap", BEGINNING)
    scratch = folder / f"{function}.measured"
    try:
        with zipfile.ZipFile(scratch, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            archive.writestr(measured, bootstrap.read_bytes(), zipfile.ZIP_DEFLATED)
        size = scratch.stat().st_size
    finally:
        scratch.unlink(missing_ok=True)
    print(f"{function}: {bootstrap.stat().st_size / 1e6:.1f} MB, {size / 1e6:.1f} MB zipped")
    if size > LARGEST_ZIP:
        raise Refused(f"{function} is larger than {LARGEST_ZIP // 1024 // 1024} MB zipped")


def write(archive, name, content, executable=False):
    """Writes one file, with rights that Lambda can use."""
    entry = zipfile.ZipInfo(name, BEGINNING)
    entry.create_system = 3
    entry.external_attr = (0o100755 if executable else 0o100644) << 16
    archive.writestr(entry, content, zipfile.ZIP_DEFLATED)


def main(arguments):
    """Runs what is asked."""
    commands = {"configure": (configure, 2), "release": (release, 4)}
    command, many = commands.get(arguments[0] if arguments else "", (None, 0))
    if command is None or len(arguments) != many + 1:
        sys.exit(__doc__)
    try:
        command(*arguments[1:])
    except Refused as refused:
        sys.exit(str(refused))


if __name__ == "__main__":
    main(sys.argv[1:])
