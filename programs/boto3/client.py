# An item of DynamoDB as a lock without an end, by hand with boto3: conditional writes acquire and release.
# locksim:lock servers=object key=locks/{key}
import time, uuid, boto3, locksim
from botocore.config import Config
from botocore.exceptions import ClientError

class Client:
    def __init__(self, config):
        self.key, self.retry = {"key": {"S": config["key"]}}, config.get("retry_ms", 100) / 1000
        self.store = boto3.client("dynamodb", endpoint_url="http://" + config["servers"][0], region_name="us-east-1",
                                  aws_access_key_id="any", aws_secret_access_key="any", config=Config(retries={"max_attempts": 0}))

    def acquire(self, wait):
        self.owner = {"S": uuid.uuid4().hex}
        end = None if wait is None else time.monotonic() + wait
        while not self.written(lambda: self.store.put_item(
                TableName="locks", Item={**self.key, "ownerName": self.owner}, ConditionExpression="attribute_not_exists(#k)",
                ExpressionAttributeNames={"#k": "key"})):
            if end is not None and time.monotonic() >= end:
                raise locksim.Refused("somebody else holds it")
            time.sleep(self.retry)
        return {"value": self.owner["S"]}

    def release(self):
        if not self.written(lambda: self.store.delete_item(
                TableName="locks", Key=self.key, ConditionExpression="#o = :me",
                ExpressionAttributeNames={"#o": "ownerName"}, ExpressionAttributeValues={":me": self.owner})):
            raise locksim.Refused("it was not ours any more")

    def written(self, write):
        try:
            write()
            return True
        except ClientError as why:
            if why.response["Error"]["Code"] != "ConditionalCheckFailedException":
                raise
            return False

locksim.run(Client)
