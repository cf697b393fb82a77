"""This folder has code for both OpenAI formats, Chat Completions and Responses.

The rules of both formats import it. It imports the code that all rules share.
"""
