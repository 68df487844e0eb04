"""An S3 server (moto) that checks signatures, with a bucket and somebody who may use it.

Prints one line, `ENDPOINT BUCKET ACCESS_KEY SECRET_KEY`, and serves until it is ended.
"""

import json
import os
import signal

# So many requests pass unsigned: those below that make the bucket and the user. Read when moto is imported.
SETUP = 4
os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = str(SETUP)

import boto3  # noqa: E402
from moto.server import ThreadedMotoServer  # noqa: E402

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
endpoint = f"http://{host}:{port}"
options = {
    "endpoint_url": endpoint,
    "region_name": "ap-south-1",
    "aws_access_key_id": "setup",
    "aws_secret_access_key": "setup",
}
boto3.client("s3", **options).create_bucket(
    Bucket="munshi", CreateBucketConfiguration={"LocationConstraint": "ap-south-1"}
)
iam = boto3.client("iam", **options)
iam.create_user(UserName="munshi")
policy = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}],
}
iam.put_user_policy(UserName="munshi", PolicyName="files", PolicyDocument=json.dumps(policy))
key = iam.create_access_key(UserName="munshi")["AccessKey"]
print(endpoint, "munshi", key["AccessKeyId"], key["SecretAccessKey"], flush=True)
signal.pause()
