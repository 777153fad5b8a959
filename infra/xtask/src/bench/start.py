"""A function in Python with the clients that ours have, up to its first request for an event."""

import http.client
import os

import boto3

clients = [boto3.client(service) for service in ("s3", "dynamodb", "sqs", "bedrock-runtime")]
runtime = http.client.HTTPConnection(os.environ["AWS_LAMBDA_RUNTIME_API"])
runtime.request("GET", "/2018-06-01/runtime/invocation/next")
runtime.getresponse()
