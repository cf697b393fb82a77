"""A chat with Streamlit."""

import os

import streamlit as st
from openai import OpenAI

client = OpenAI(base_url=os.environ["BASE"], api_key="any-key")
st.title("Chat")
said = st.session_state.setdefault("said", [])
for each in said:
    st.chat_message(each["role"]).markdown(each["content"])
if message := st.chat_input("Say something"):
    said.append({"role": "user", "content": message})
    st.chat_message("user").markdown(message)
    with st.chat_message("assistant"):
        stream = client.chat.completions.create(model="gpt-4.1", messages=said, stream=True)
        text = st.write_stream(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)
    said.append({"role": "assistant", "content": text})
