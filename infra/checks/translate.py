"""Writes the template as CloudFormation sees it, after the SAM transform.

Usage: translate.py TEMPLATE TARGET [NAME=VALUE ..]. Nothing is asked of AWS: the
transform is a library, and where the code would lie is made up.
"""

import json
import pathlib
import sys

from samtranslator.translator.transform import transform
from samtranslator.yaml_helper import yaml_parse


class NoManagedPolicies:
    """The transform looks names of AWS's policies up; the template names none."""

    def load(self):
        return {}


def main(template, target, *values):
    tree = yaml_parse(pathlib.Path(template).read_text())
    for resource in tree["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            resource["Properties"]["CodeUri"] = "s3://sekali-code/function.zip"
    parameters = dict(value.split("=", 1) for value in values)
    translated = transform(tree, parameters, NoManagedPolicies())
    target = pathlib.Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(translated, indent=1))


if __name__ == "__main__":
    main(*sys.argv[1:])
