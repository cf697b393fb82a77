"""The runs of the example drivers: a case and a mode."""

PLAYS = [
    ("parallel_tools_return_images", "stream"),
    ("tool_returns_nested_media", "sync"),
    ("tool_returns_remote_image", "sync"),
    ("tool_returns_unsupported_image", "sync"),
    ("two_parallel_tools", "sync"),
    ("audio_from_user", "stream"),
    ("dangling_call", "sync"),
    ("length_inside_arguments", "sync"),
    ("cut_inside_arguments", "stream"),
    ("error_inside_the_answer", "stream"),
    ("unicode_arguments", "stream"),
]
