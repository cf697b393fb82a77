"""The parameters that all providers share."""

from ellmer_core.wire.interfaces import params


def test_params_leaves_out_what_is_none_and_keeps_what_is_falsy():
    assert params() == {}
    assert params(temperature=0.0, seed=0, log_probs=False, top_k=None, min_p=0.1) == {
        "temperature": 0.0,
        "seed": 0,
        "log_probs": False,
        "min_p": 0.1,
    }
    assert params(stop_sequences="END") == params(stop_sequences=("END",)) == {"stop_sequences": ["END"]}
