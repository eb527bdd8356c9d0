"""Lists the code of others that is compiled into a wheel, for whoever looks for known defects of it.

It goes where PEP 770 wants it, `sboms/` in the folder of metadata, in CycloneDX's format. Shared
libraries are not in it: `auditwheel repair` lists those that it adds, in a file beside this one.
"""

import base64
import hashlib
import importlib.metadata
import json
import os
import zipfile

# What Meson calls those whose headers hold code. The rest is linked from shared libraries.
_HEADERS = {"CLI11": "cli11", "absl_core_headers": "abseil-cpp", "libhwy": "highway",
            "nlohmann_json": "nlohmann-json", "tbb": "onetbb"}  # fmt: skip


def _introspect(build, name):
    with open(os.path.join(build, "meson-info", f"intro-{name}.json"), encoding="utf-8") as file:
        return json.load(file)


def _component(name, version, kind="generic"):
    purl = f"pkg:{kind}/{name}@{version}"
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}


def _bill(build, name, version):
    versions = {one["name"]: one["version"] for one in _introspect(build, "dependencies")}
    components = [_component(title, versions[module]) for module, title in _HEADERS.items()]
    components.append(_component("nanobind", importlib.metadata.version("nanobind"), "pypi"))
    wheel = _component(name, version, "pypi")
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.4",
        "version": 1,
        "metadata": {"component": wheel},
        "components": components,
        "dependencies": [{"ref": wheel["bom-ref"], "dependsOn": [one["bom-ref"] for one in components]}],
    }


def add_to(wheel, build, name):
    """Adds the list to a wheel that was built in this folder."""
    with zipfile.ZipFile(wheel) as archive:
        entries = [(info, archive.read(info)) for info in archive.infolist()]
    record, text = entries.pop()
    folder = os.path.dirname(record.filename)
    content = json.dumps(_bill(build, name, folder.removesuffix(".dist-info").split("-")[1]), indent=1).encode()
    added = zipfile.ZipInfo(f"{folder}/sboms/{name}.cdx.json", record.date_time)
    added.compress_type = zipfile.ZIP_DEFLATED
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    text = text.rstrip(b"\n") + f"\n{added.filename},sha256={digest},{len(content)}\n".encode()
    with zipfile.ZipFile(wheel, "w") as archive:
        for info, data in [*entries, (added, content), (record, text)]:
            # Otherwise the umask of the checkout would be part of the wheel.
            info.external_attr = (0o100755 if info.external_attr >> 16 & 0o100 else 0o100644) << 16
            archive.writestr(info, data)
