"""Every provider's wire, and the values that its tests send."""

from importlib import import_module
from pathlib import Path

import ellmer_core
from ellmer_core.contents.content import ContentImageInline, ContentPDF, ContentToolRequest, ToolDef
from ellmer_core.contents.turns import UserTurn
from ellmer_core.providers._construction import chat
from ellmer_core.schemas.type_classes import TypeObject
from ellmer_core.schemas.type_functions import TypeBasic
from ellmer_core.wire.base import Wire

PNG = ContentImageInline("image/png", "iVBORw0KGgo=")
PDF = ContentPDF("application/pdf", "JVBERi0=", "a.pdf")
ONE = ContentToolRequest("call_1", "draw", {"n": 1})
SHAPE = TypeObject(properties={"n": TypeBasic(type="integer"), "why": TypeBasic(required=False)})
DRAW = ToolDef(lambda n: n, "draw", "Draws.", SHAPE)

#: Variables that are not keys.
PLACES = {
    "AWS_REGION": "eu-west-1",
    "AZURE_OPENAI_ENDPOINT": "https://res.openai.azure.com/",
    "CLOUDFLARE_ACCOUNT_ID": "acc",
    "DATABRICKS_HOST": "https://x.cloud.databricks.com/",
    "GOOGLE_CLOUD_PROJECT": "proj",
    "SNOWFLAKE_ACCOUNT": "org-acc",
}


def modules():
    folder = Path(ellmer_core.__file__).with_name("providers")
    return [import_module(f"ellmer_core.providers.{path.stem}") for path in sorted(folder.glob("[!_]*.py"))]


WIRES = [
    value
    for module in modules()
    for value in vars(module).values()
    if isinstance(value, type) and issubclass(value, Wire) and value.__module__ == module.__name__
]


def made(name, **options):
    return chat(name, echo="none", **options).wire


def body(wire, *turns, tools=(), **options):
    return wire.request(turns or [UserTurn("Hi")], tools, **options).json
