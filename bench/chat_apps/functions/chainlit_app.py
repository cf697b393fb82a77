"""A chat with Chainlit, with a data layer and a login, and what it offers beyond the smallest page."""

import json
import os
import sqlite3

import chainlit as cl
import pandas as pd
import plotly.graph_objects as go
from chainlit.data.sql_alchemy import SQLAlchemyDataLayer
from chainlit.input_widget import Slider
from openai import AsyncOpenAI

client = AsyncOpenAI(base_url=os.environ["BASE"], api_key="any-key")
DATABASE = f"{os.environ['STORE']}/chats.db"
TABLES = """
CREATE TABLE IF NOT EXISTS users (id TEXT PRIMARY KEY, identifier TEXT UNIQUE NOT NULL, metadata TEXT NOT NULL, createdAt TEXT);
CREATE TABLE IF NOT EXISTS threads (id TEXT PRIMARY KEY, createdAt TEXT, name TEXT, userId TEXT, userIdentifier TEXT, tags TEXT,
    metadata TEXT);
CREATE TABLE IF NOT EXISTS steps (id TEXT PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, threadId TEXT NOT NULL, parentId TEXT,
    streaming BOOLEAN NOT NULL, waitForAnswer BOOLEAN, isError BOOLEAN, metadata TEXT, tags TEXT, input TEXT, output TEXT, createdAt TEXT,
    command TEXT, start TEXT, "end" TEXT, generation TEXT, showInput TEXT, language TEXT, indent INT, defaultOpen BOOLEAN, autoCollapse BOOLEAN,
    modes TEXT, icon TEXT);
CREATE TABLE IF NOT EXISTS elements (id TEXT PRIMARY KEY, threadId TEXT, type TEXT, url TEXT, chainlitKey TEXT, name TEXT NOT NULL,
    display TEXT, objectKey TEXT, size TEXT, page INT, language TEXT, forId TEXT, mime TEXT, props TEXT, path TEXT, autoPlay BOOLEAN,
    playerConfig TEXT);
CREATE TABLE IF NOT EXISTS feedbacks (id TEXT PRIMARY KEY, forId TEXT NOT NULL, threadId TEXT, value INT NOT NULL, comment TEXT);
"""
sqlite3.register_adapter(list, json.dumps)  # the tags of a thread
with sqlite3.connect(DATABASE) as base:
    base.executescript(TABLES)


@cl.data_layer
def layer() -> SQLAlchemyDataLayer:
    return SQLAlchemyDataLayer(conninfo=f"sqlite+aiosqlite:///{DATABASE}")


@cl.password_auth_callback
def user(name: str, _password: str) -> cl.User:
    return cl.User(identifier=name)


@cl.set_chat_profiles
async def models() -> list[cl.ChatProfile]:
    return [cl.ChatProfile(name=each, markdown_description=each) for each in ("gpt-4.1", "gpt-4.1-mini")]


@cl.on_chat_resume
async def resume(_thread: object) -> None:
    """The conversation goes on."""


@cl.on_chat_start
async def start() -> None:
    await cl.ChatSettings(
        [Slider(id="temperature", label="Temperature", initial=1, min=0, max=1, step=0.5)]
    ).send()


@cl.on_message
async def answer(message: cl.Message) -> None:
    text = message.content
    if "table" in text:
        frame = pd.DataFrame({"city": ["Rome", "Oslo", "Bonn"], "sold": [2, 9, 5]})
        await cl.Message("Here.", elements=[cl.Dataframe(data=frame, name="Sales", display="inline")]).send()
    elif "chart" in text:
        await cl.Message(
            "Here.", elements=[cl.Plotly(figure=go.Figure(go.Bar(y=[2, 9, 5])), display="inline")]
        ).send()
    elif "weather" in text:
        async with cl.Step(name="get_weather", type="tool") as step:
            step.input, step.output = {"city": "Rome"}, "Sunny"
        await cl.Message("Sunny.").send()
    elif "delete" in text:
        actions = [
            cl.Action(name="yes", payload={"ok": True}, label="Approve"),
            cl.Action(name="no", payload={"ok": False}, label="Refuse"),
        ]
        asked = await cl.AskActionMessage(content="Delete notes.txt?", actions=actions).send()
        await cl.Message(f"Approved: {bool(asked and asked['payload']['ok'])}").send()
    else:
        out = cl.Message(content="")
        said = [{"role": "user", "content": text}]
        async for chunk in await client.chat.completions.create(model="gpt-4.1", messages=said, stream=True):
            if chunk.choices and chunk.choices[0].delta.content:
                await out.stream_token(chunk.choices[0].delta.content)
        await out.update()
