"""A chat with Streamlit, with what it offers beyond the smallest page."""

import os

import pandas as pd
import streamlit as st
from openai import OpenAI

client = OpenAI(base_url=os.environ["BASE"], api_key="any-key")
model = st.sidebar.selectbox("Model", ["gpt-4.1", "gpt-4.1-mini"])
st.sidebar.slider("Temperature", 0.0, 1.0)
said = st.session_state.setdefault("said", [])
for number, each in enumerate(said):
    with st.chat_message(each["role"]):
        st.markdown(each["content"])
        if each["role"] == "assistant":
            st.feedback("thumbs", key=f"thumbs{number}")
if message := st.chat_input("Say something", accept_file=True, accept_audio=True):
    said.append({"role": "user", "content": message.text})
    st.chat_message("user").markdown(message.text)
    for file in message.files:
        st.image(file)
    with st.chat_message("assistant"):
        if "table" in message.text:
            st.dataframe(pd.DataFrame({"city": ["Rome", "Oslo", "Bonn"], "sold": [2, 9, 5]}))
        if "chart" in message.text:
            st.line_chart({"sold": [2, 9, 5]})
        if "weather" in message.text:
            with st.status("get_weather"):
                st.write('{"city": "Rome"}: Sunny')
        stream = client.chat.completions.create(model=model, messages=said, stream=True)
        text = st.write_stream(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)
        st.feedback("thumbs", key=f"thumbs{len(said)}")
    said.append({"role": "assistant", "content": text})
