#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Checks a description of the HTTP API: that it is OpenAPI 3.1, and that each example is what its schema says.

    .venv/bin/python Tests/EndToEnd/openapi.py FILE

Exits with 1 and one line per fault.
"""
import json, sys

import jsonschema
import openapi_spec_validator


def examples(document):
    """The schema and the example of each parameter and body, with where it stands."""
    for path, item in document["paths"].items():
        for method, operation in item.items():
            where = f"{method.upper()} {path}"
            for parameter in operation.get("parameters", []):
                yield f"{where}, parameter {parameter['name']}", parameter["schema"], parameter.get("example", parameter.get("x-example"))
            bodies = [("request", operation.get("requestBody", {}))]
            bodies += list(operation["responses"].items())
            for name, body in bodies:
                for kind, content in body.get("content", {}).items():
                    yield f"{where}, {name} in {kind}", content["schema"], content["example"]


def faults(document):
    try:
        openapi_spec_validator.validate(document)
    except Exception as error:  # Each of its versions has errors of its own.
        yield f"it is not OpenAPI: {error}"
        return
    names = [operation["operationId"] for item in document["paths"].values() for operation in item.values()]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"the operation {name} is there twice"
    count = 0
    for where, schema, example in examples(document):
        count += 1
        # References lead into the document, so it stands around the schema.
        whole = {**schema, "components": document["components"]}
        for error in jsonschema.Draft202012Validator(whole).iter_errors(example):
            yield f"{where}: the example is not what the schema says: {error.message}"
    if count < 20:
        yield f"only {count} examples"


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        found = list(faults(json.load(file)))
    print("\n".join(found) or "the description is OpenAPI, and every example is what its schema says")
    sys.exit(1 if found else 0)
