"""Types of tool arguments and of structured output: conversion between Python types and JSON Schema.

The modules import only `errors`. Every other part of the library may import them.
"""
