"""`python -m examples.research_agent QUESTION` prints the answer; `--serve PORT` answers over HTTP."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import spanscore_instrumentation as si
from examples.research_agent.agent import answer


class Handler(BaseHTTPRequestHandler):
    """Answers `{"input": …}` with `{"output": …}`."""

    def do_POST(self) -> None:
        """One question."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with si.continue_trace(self.headers):
            said = answer(asked["input"])
        content = json.dumps({"output": said}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the name of the base class
        """Says nothing."""


def main(words: list[str]) -> None:
    """Answers, or serves."""
    if words[:1] == ["--serve"]:
        server = ThreadingHTTPServer(("127.0.0.1", int(words[1])), Handler)
        sys.stderr.write(f"http://127.0.0.1:{server.server_port}\n")
        server.serve_forever()
    else:
        sys.stdout.write(answer(" ".join(words)) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
