"""Every public call shows its arguments: in its signature, in its documentation and in its messages."""

import inspect
import pydoc
import re
import tempfile
import unittest

from arguments_test import SUBJECTS, Subject
from support import PackageTest, cairn

# Those that users make. Objects of other classes come from calls.
CONSTRUCTED = ("Limits", "Retention", "Rotation")


def methods_of(kind):
    """The public methods that the package itself defines."""
    for name, member in inspect.getmembers(kind, inspect.isroutine):
        if not name.startswith("_") and (getattr(member, "__module__", None) or "").startswith("cairn"):
            yield name, member


def classes():
    return [one for name, one in vars(cairn).items() if name in cairn.__all__ and inspect.isclass(one) and not issubclass(one, Exception)]


def functions():
    """By what messages call them: functions, static methods and constructors."""
    from cairn import sqlite

    found = {name: getattr(cairn, name) for name in cairn.__all__ if inspect.isfunction(getattr(cairn, name))}
    found.update({f"Log.{name}": getattr(cairn.Log, name) for name in ("create", "open")})
    found.update({name: getattr(cairn, name) for name in CONSTRUCTED if name in cairn.__all__})
    found["connect"] = sqlite.connect
    return found


def calls():
    """All public calls by their names."""
    found = functions()
    for kind in [*classes(), cairn.metadata.Meta, cairn.metadata.VlMeta, cairn.metadata.RawMeta, cairn.metadata.RawVlMeta]:
        found.update({f"{kind.__name__}.{name}": member for name, member in methods_of(kind)})
    return found


def parameters_of(call):
    return {name: one for name, one in inspect.signature(call).parameters.items() if name != "self"}


class SignaturesTest(PackageTest):
    def fresh(self):
        return tempfile.mkdtemp(dir=self.folder)

    def test_no_public_call_hides_its_arguments(self):
        found = calls()
        self.assertGreater(len(found), 60)
        self.assertIn("Frame.append", found)
        for name, call in found.items():
            for parameter in inspect.signature(call).parameters.values():
                with self.subTest(call=name, parameter=parameter.name):
                    self.assertNotIn(parameter.kind, (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD))

    def test_documentation_names_every_argument(self):
        for name, call in calls().items():
            documentation = inspect.getdoc(call) or ""
            listed = pydoc.plain(pydoc.render_doc(call))
            for parameter, one in parameters_of(call).items():
                with self.subTest(call=name, parameter=parameter):
                    self.assertRegex(documentation, rf"\b{parameter}\b")
                    self.assertIn(f"{parameter}: ", listed)
                    if one.default is not one.empty:
                        self.assertRegex(listed, rf"\b{parameter}: [^=]*= {re.escape(repr(one.default))}")

    def is_told(self, name, call, parameters):
        for parameter in parameters:
            with self.subTest(call=name, parameter=parameter), self.assertRaises(cairn.InvalidType) as caught:
                call(**{f"{parameter}z": None})
            self.assertIsInstance(caught.exception, TypeError)
            self.assertIn(f"{name} has no argument '{parameter}z'; did you mean '{parameter}'?", str(caught.exception))
        if parameters:
            with self.subTest(call=name), self.assertRaisesRegex(cairn.InvalidType, "has no argument 'qqq'; it takes .*" + parameters[0]):
                call(qqq=None)

    def test_wrong_name_of_an_argument_is_told_with_the_nearest(self):
        for name, call in functions().items():
            self.is_told(name, call, list(parameters_of(call)))
        for what in SUBJECTS:
            if what.startswith("closed_"):
                continue
            subject = Subject(self, what)
            kind = type(subject.it)
            for name, member in methods_of(kind):
                if not isinstance(inspect.getattr_static(kind, name), staticmethod):
                    self.is_told(f"{kind.__name__}.{name}", getattr(subject.it, name), list(parameters_of(member)))
            subject.end()

    def test_wrong_name_is_told_with_the_file(self):
        path = self.path("new")
        with self.assertRaisesRegex(cairn.InvalidType, f"^{re.escape(path)}: create has no argument 'kodec'; did you mean 'codec'"):
            cairn.create(path, kodec="zstd")
        frame = cairn.create(path)
        with self.assertRaisesRegex(cairn.InvalidType, f"^{re.escape(path)}: Frame.append has no argument 'item'; did you mean 'items'"):
            frame.append(item=[1])

    def test_modes_that_make_nothing_refuse_how_to_make_it(self):
        path = self.path()
        cairn.create(path)
        for mode in ("r", "r+"):
            with self.assertRaisesRegex(cairn.InvalidType, f"mode '{re.escape(mode)}' does not take shape, codec"):
                cairn.open(path, mode, codec="zstd", shape=(3,))
        self.assertEqual(cairn.open(path, "a", codec="zstd", shape=(3,)).shape, (0,))


if __name__ == "__main__":
    unittest.main()
