"""Makes wheels of the package beside this file: a build backend (PEP 517, PEP 660) of the standard library alone."""
import base64
import hashlib
import io
import re
import tarfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
NAME = "heddle"
TIME = (1980, 1, 1, 0, 0, 0)  # the same files give the same bytes


def _version():
    text = (HERE / NAME / "__init__.py").read_text(encoding="utf-8")
    return re.search(r'^__version__ = "([^"]+)"$', text, re.MULTILINE).group(1)


def _info():
    return f"{NAME}-{_version()}.dist-info"


def _metadata():
    return (f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {_version()}\nSummary: Simulated GPU systems in Python\n"
            "License: Apache-2.0\nRequires-Python: >=3.9\n").encode()


def _sources():
    return sorted(path for path in (HERE / NAME).rglob("*") if path.suffix == ".py" or path.name == "py.typed")


def _digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _write_wheel(folder, files):
    """files: (name, bytes) of what is installed."""
    wheel = "Wheel-Version: 1.0\nGenerator: heddle_build\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files = files + [(f"{_info()}/METADATA", _metadata()), (f"{_info()}/WHEEL", wheel.encode())]
    record = "".join(f"{name},sha256={_digest(data)},{len(data)}\n" for name, data in files) + f"{_info()}/RECORD,,\n"
    path = Path(folder) / f"{NAME}-{_version()}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files + [(f"{_info()}/RECORD", record.encode())]:
            info = zipfile.ZipInfo(name, TIME)
            info.external_attr = 0o644 << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return path.name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return _write_wheel(wheel_directory, [(str(path.relative_to(HERE)), path.read_bytes()) for path in _sources()])


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return _write_wheel(wheel_directory, [(f"{NAME}.pth", f"{HERE}\n".encode())])


def build_sdist(sdist_directory, config_settings=None):
    top = f"{NAME}-{_version()}"
    path = Path(sdist_directory) / f"{top}.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        archive.add(HERE.parent / "pyproject.toml", f"{top}/pyproject.toml")
        for source in [Path(__file__).resolve(), *_sources()]:
            archive.add(source, f"{top}/python/{source.relative_to(HERE)}")
        info = tarfile.TarInfo(f"{top}/PKG-INFO")
        info.size = len(_metadata())
        archive.addfile(info, io.BytesIO(_metadata()))
    return path.name
