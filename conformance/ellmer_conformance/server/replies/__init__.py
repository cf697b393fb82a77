"""Makes the reply to a request: the step of the script, its bytes, and its variation.

The modules import the chat_apis and the HTTP modules.
"""
