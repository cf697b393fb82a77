"""Chats in evaluations with inspect-ai (`pip install "ellmer-core[inspect]"`), as a solver and as a model.

    Task(dataset, solver=chat_solver(chat), scorer=match())  # our loop calls the chat's own tools

    inspect eval task.py --model ellmer/openai/gpt-4.1  # inspect-ai's loop calls the task's tools

https://inspect.aisi.org.uk
"""

from .model import EllmerModel
from .solver import chat_solver

__all__ = ["EllmerModel", "chat_solver"]
