"""Every recorded answer that a later request continues: the parts that were sent back and accepted."""

#: Where the turns are in a request, and the role of the model's; `messages` and `assistant` but for these.
PLACES = {"openai-responses": ("input", "assistant"), "gemini": ("contents", "model")}
OTHERS = {"user", "system", "developer", "tool"}


def accepted_next(this, after):
    """Returns the model's messages that the next request added first, if the provider accepted it."""
    if after is None or after["protocol"] != this["protocol"]:
        return []
    if max(this["response"]["status"], after["response"]["status"]) >= 300:
        return []
    field, role = PLACES.get(this["protocol"], ("messages", "assistant"))
    before, now = ((i["request"].get("body") or {}).get(field) for i in (this, after))
    added = now[len(before) :] if isinstance(before, list) and isinstance(now, list) else []
    theirs = []
    for message in added:
        if message.get("role") != role and (
            message.get("role") in OTHERS or message.get("type") == "function_call_output"
        ):
            break
        theirs.append(message)
    return theirs


def sent_back(recorded, but):
    """Yields the cases `(name, this, accepted)` of the recordings, without the files of `but`."""
    return [
        (name, this, accepted)
        for name, this, after in recorded
        if (accepted := accepted_next(this, after)) and name.split("#")[0] not in but
    ]
