#!/usr/bin/env python3
"""json_schema.py SCHEMA FILE...: tells where a file is not as the schema says, which is in the part of JSON Schema
(draft 2020-12) that is known here. A keyword that is not known is a mistake of the schema's."""
import json
import re
import sys

ANNOTATIONS = {"$schema", "$id", "$defs", "title", "description"}
TYPES = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
}


class Checker:
    def __init__(self, root):
        self.root = root
        self.wrong = []

    def fail(self, at, text):
        self.wrong.append(f"{at or 'the whole'}: {text}")

    def find(self, reference):
        found = self.root
        for part in reference.removeprefix("#/").split("/"):
            found = found[part]
        return found

    def check(self, schema, value, at=""):
        for keyword, wanted in schema.items():
            if keyword not in ANNOTATIONS:
                getattr(self, "check_" + keyword.lstrip("$"))(schema, wanted, value, at)

    def check_ref(self, schema, wanted, value, at):
        self.check(self.find(wanted), value, at)

    def check_type(self, schema, wanted, value, at):
        names = [wanted] if isinstance(wanted, str) else wanted
        if not any(TYPES[name](value) for name in names):
            self.fail(at, f"expected {' or '.join(names)}, not {json.dumps(value)[:60]}")

    def check_const(self, schema, wanted, value, at):
        self.check_enum(schema, [wanted], value, at)

    def check_enum(self, schema, wanted, value, at):
        if not any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in wanted):
            self.fail(at, f"expected one of {wanted}, not {json.dumps(value)[:60]}")

    def check_minimum(self, schema, wanted, value, at):
        if TYPES["number"](value) and value < wanted:
            self.fail(at, f"expected {wanted} or more, not {value}")

    def check_pattern(self, schema, wanted, value, at):
        if isinstance(value, str) and not re.search(wanted, value):
            self.fail(at, f"expected {wanted}, not '{value}'")

    def check_items(self, schema, wanted, value, at):
        for i, one in enumerate(value if isinstance(value, list) else []):
            self.check(wanted, one, f"{at}[{i}]")

    def check_minItems(self, schema, wanted, value, at):
        if isinstance(value, list) and len(value) < wanted:
            self.fail(at, f"expected {wanted} elements or more, not {len(value)}")

    def check_maxItems(self, schema, wanted, value, at):
        if isinstance(value, list) and len(value) > wanted:
            self.fail(at, f"expected {wanted} elements or fewer, not {len(value)}")

    def check_required(self, schema, wanted, value, at):
        for name in wanted:
            if isinstance(value, dict) and name not in value:
                self.fail(at, f"'{name}' is missing")

    def check_dependentRequired(self, schema, wanted, value, at):
        for name, others in wanted.items():
            if isinstance(value, dict) and name in value:
                self.check_required(schema, others, value, at)

    def check_properties(self, schema, wanted, value, at):
        for name, one in value.items() if isinstance(value, dict) else ():
            if name in wanted:
                self.check(wanted[name], one, f"{at}.{name}")

    def check_propertyNames(self, schema, wanted, value, at):
        for name in value if isinstance(value, dict) else ():
            self.check(wanted, name, f"{at}, a name")

    def check_additionalProperties(self, schema, wanted, value, at):
        known = schema.get("properties", {})
        for name, one in value.items() if isinstance(value, dict) else ():
            if name in known:
                continue
            if wanted is False:
                self.fail(at, f"'{name}' is not known")
            elif isinstance(wanted, dict):
                self.check(wanted, one, f"{at}.{name}")


def check_keywords(schema, at):
    """All of them, also where no file has what they are about."""
    for keyword, inner in schema.items():
        if keyword not in ANNOTATIONS and not hasattr(Checker, "check_" + keyword.lstrip("$")):
            sys.exit(f"{at}: the keyword '{keyword}' is not known to json_schema.py")
        if keyword in ("properties", "$defs"):
            for name, one in inner.items():
                check_keywords(one, f"{at}/{keyword}/{name}")
        elif isinstance(inner, dict) and keyword != "dependentRequired":
            check_keywords(inner, f"{at}/{keyword}")


def main(schema_path, *paths):
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    check_keywords(schema, schema_path)
    status = 0
    for path in paths:
        checker = Checker(schema)
        with open(path, encoding="utf-8") as file:
            checker.check(schema, json.load(file))
        for text in checker.wrong[:20]:
            print(f"{path}: {text}")
        status = status or bool(checker.wrong)
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
