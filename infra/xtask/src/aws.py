"""Calls to AWS that the deployer has no command for: `prepare BUCKET` before a deployment, `outputs STACK`
after it, `unwatched NAME` for tests."""

import json
import sys

import boto3


def prepare(bucket, *parameters):
    boto3.client("s3").create_bucket(Bucket=bucket)
    ssm = boto3.client("ssm")
    for name in parameters:
        # Nothing local asks for a key; that one is stored and read is what is tried.
        ssm.put_parameter(Name=name, Value="local", Type="SecureString", Overwrite=True)


def unwatched(name):
    """A versioned bucket and a queue that no function consumes, for what tests their adapters alone."""
    s3 = boto3.client("s3")
    s3.create_bucket(Bucket=name)
    s3.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
    print(json.dumps({"bucket": name, "queue": boto3.client("sqs").create_queue(QueueName=name)["QueueUrl"]}))


def outputs(stack):
    (found,) = boto3.client("cloudformation").describe_stacks(StackName=stack)["Stacks"]
    values = {output["OutputKey"]: output["OutputValue"] for output in found["Outputs"]}
    routes = boto3.client("apigatewayv2").get_routes(ApiId=values["ApiId"])["Items"]
    print(json.dumps({"outputs": values, "routes": len(routes)}))


{"prepare": prepare, "unwatched": unwatched, "outputs": outputs}[sys.argv[1]](*sys.argv[2:])
