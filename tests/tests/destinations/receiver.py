"""A receiver of Standard Webhooks built with the official library.

Usage: receiver.py SECRET STATUS... It prints its port, verifies every POST and
answers what verifies with the statuses in turn, the last one from then on; what
does not verify is answered 401. GET tells what it has seen. It ends with its
standard input.
"""

import http.server
import json
import os
import sys
import threading

from standardwebhooks import Webhook, WebhookVerificationError

webhook = Webhook(sys.argv[1])
statuses = [int(status) for status in sys.argv[2:]]
seen = {"ids": [], "keys": [], "bodies": [], "attempts": [], "refused": 0}


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        try:
            webhook.verify(body, dict(self.headers))
        except WebhookVerificationError:
            seen["refused"] += 1
            return self.answer(401)
        seen["ids"].append(self.headers["webhook-id"])
        seen["keys"].append(self.headers["idempotency-key"])
        seen["attempts"].append(self.headers["sekali-attempt"])
        seen["bodies"].append(body.decode())
        self.answer(statuses.pop(0) if len(statuses) > 1 else statuses[0])

    def do_GET(self):
        self.answer(200)

    def answer(self, status):
        body = json.dumps(seen).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def end_with_input():
    sys.stdin.read()
    os._exit(0)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=end_with_input, daemon=True).start()
print(server.server_port, flush=True)
server.serve_forever()
