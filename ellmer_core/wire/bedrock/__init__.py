"""Amazon Bedrock Converse, `POST {base_url}/model/{model}/converse`."""
