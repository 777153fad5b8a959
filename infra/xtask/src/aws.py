"""Calls to AWS that the deployer has no command for: `prepare BUCKET` before a deployment, `outputs STACK` after it."""

import json
import sys

import boto3


def prepare(bucket, *parameters):
    boto3.client("s3").create_bucket(Bucket=bucket)
    ssm = boto3.client("ssm")
    for name in parameters:
        # Nothing local asks for a key; that one is stored and read is what is tried.
        ssm.put_parameter(Name=name, Value="local", Type="SecureString", Overwrite=True)


def outputs(stack):
    (found,) = boto3.client("cloudformation").describe_stacks(StackName=stack)["Stacks"]
    values = {output["OutputKey"]: output["OutputValue"] for output in found["Outputs"]}
    routes = boto3.client("apigatewayv2").get_routes(ApiId=values["ApiId"])["Items"]
    print(json.dumps({"outputs": values, "routes": len(routes)}))


{"prepare": prepare, "outputs": outputs}[sys.argv[1]](*sys.argv[2:])
