"""The runtime's loop, as small as it can be: Lambda's own does more."""

import http.client
import json
import os
import time

from app import handler

RUNTIME = "/2018-06-01/runtime/invocation"


class Context:
    function_name = os.environ["AWS_LAMBDA_FUNCTION_NAME"]
    memory_limit_in_mb = 512
    invoked_function_arn = "arn:aws:lambda:us-east-1:000000000000:function:bench"

    def __init__(self, request_id, deadline):
        self.aws_request_id = request_id
        self.deadline = deadline

    def get_remaining_time_in_millis(self):
        return max(0, self.deadline - int(time.time() * 1000))


def main():
    connection = http.client.HTTPConnection(os.environ["AWS_LAMBDA_RUNTIME_API"])
    while True:
        connection.request("GET", f"{RUNTIME}/next")
        response = connection.getresponse()
        event = json.loads(response.read())
        request_id = response.headers["lambda-runtime-aws-request-id"]
        context = Context(request_id, int(response.headers["lambda-runtime-deadline-ms"]))
        answer = json.dumps(handler(event, context))
        connection.request("POST", f"{RUNTIME}/{request_id}/response", body=answer)
        connection.getresponse().read()


main()
