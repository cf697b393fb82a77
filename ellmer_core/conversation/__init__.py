"""The conversation without I/O: `loop` sends the inputs and runs tools, `request` makes what is sent, `response` reads the answer,
`approval` decides which tool calls may run, `retries` follows a failure; `history`, `settings` and the operations of
`io_operations` are what they work with.

The modules import `wire`, `tools`, the contents and `base`. `transport` carries out the operations.
"""
