"""A server that speaks the saved-objects API as Kibana 9 and OpenSearch Dashboards 3 do, and keeps
what it is given.
"""

import json
from email.parser import Parser
from email.policy import HTTP
from urllib.parse import parse_qs

from scripted import JSON, Answer, ScriptedServer

PRODUCTS = {
    "kibana": (
        "kbn",
        {"number": "9.5.3", "build_flavor": "traditional"},
        {"overall": {"level": "available"}},
    ),
    "opensearch-dashboards": (
        "osd",
        {"number": "3.8.0", "build_snapshot": False},
        {"overall": {"state": "green"}},
    ),
}
TYPES = ("index-pattern", "search", "visualization", "dashboard")


class SpokenServer(ScriptedServer):
    """`stored` holds the saved objects by type and id; `said` are the headers of every answer."""

    def __init__(self, product="kibana"):
        super().__init__()
        self.prefix, version, status = PRODUCTS[product]
        self.said = {f"{self.prefix}-name": "here", **JSON}
        self.stored = {}
        self.answer(
            "status", Answer({"name": "here", "version": version, "status": status}, 200, self.said)
        )
        self.answer("_import", self._import)

    def refusal(self, status, message):
        """An error as both products word it."""
        return Answer(
            {"statusCode": status, "error": "Error", "message": message}, status, self.said
        )

    def report(self, count, failures):
        """The answer to an import: 200, whatever failed."""
        taken = {"success": not failures, "successCount": count, "warnings": []}
        return Answer({**taken, **({"errors": failures} if failures else {})}, 200, self.said)

    def _import(self, request):
        if f"{self.prefix}-xsrf" not in request.headers:
            return self.refusal(400, f"Request must contain a {self.prefix}-xsrf header.")
        if (request.method, parse_qs(request.query)) != ("POST", {"overwrite": ["true"]}):
            return self.refusal(400, f"[request query]: {request.query}")
        file = only_part(request)
        if file.get_param("name", header="content-disposition") != "file":
            return self.refusal(400, "[request body.file]: expected value of type [Stream]")
        if not (file.get_filename() or "").endswith(".ndjson"):
            return self.refusal(400, "Invalid file extension")
        objects = [json.loads(line) for line in file.get_payload().splitlines()]
        there = self.stored.keys() | {(item["type"], item["id"]) for item in objects}
        failures = [failed for item in objects if (failed := failure(item, there))]
        bad = {(failed["type"], failed["id"]) for failed in failures}
        taken = {
            (item["type"], item["id"]): item
            for item in objects
            if (item["type"], item["id"]) not in bad
        }
        self.stored |= taken
        return self.report(len(taken), failures)


def only_part(request):
    """The one part of a multipart body."""
    message = Parser(policy=HTTP).parsestr(
        f"content-type: {request.headers['content-type']}\r\n\r\n{request.text}"
    )
    assert message.get_content_type() == "multipart/form-data"
    (part,) = message.iter_parts()
    return part


def failure(item, there):
    """What is wrong with an object, as an import reports it; None where nothing is."""
    named = {
        "type": item["type"],
        "id": item["id"],
        "meta": {"title": item["attributes"].get("title")},
    }
    if item["type"] not in TYPES:
        return {**named, "error": {"type": "unsupported_type"}}
    missing = [one for one in item["references"] if (one["type"], one["id"]) not in there]
    if missing:
        return {**named, "error": {"type": "missing_references", "references": missing}}
    return None
