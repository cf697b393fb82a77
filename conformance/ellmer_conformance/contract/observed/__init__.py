"""What a run showed: requests and their answers, what the library told the caller, its transcript, and the same model again.

The modules import the readers and `provider_answers`. The rules of behaviour judge these values.
"""
