"""Tells what an error text is about if the content of the request is not its cause: the key, the account, the model's name,
the length of the prompt, the network, the words of the model, or nothing that it says.
"""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["NOT_STARTED_WITH", "SAYS_NOTHING", "OtherCause", "other_cause"]


class OtherCause(NamedTuple):
    """A cause that no rule about requests is about: what happened, what to do, and whether an API says so."""

    what: str
    advice: str
    of_api: bool = True


#: What a text is that names no cause.
SAYS_NOTHING = OtherCause("the text does not say what is wrong", "Look for the body of the answer.")
#: What a server says that runs without an option: the request is right, unless a provider says so of its own servers.
NOT_STARTED_WITH = OtherCause(
    "the server was started without an option that this needs", "Start it with the option."
)
#: The causes with the words that tell them, in the form of a regular expression. The first one that is found counts.
_CAUSES = {
    OtherCause(
        "a program found a fault itself, and no API refused a request",
        "Read where the program raised it.",
        of_api=False,
    ): (
        r"\A\s*(?:Traceback[\s\S]*\n)?[\w.]*\b(?:(?:pydantic[\w.]*|jsonschema[\w.]*)\.ValidationError|JSONDecodeError"
        r"|(?:Attribute|Key|Index|Type|Name|Import|ModuleNotFound|UnboundLocal|(?:Request|Response)Validation|Assertion|Recursion|Reference|Range"
        r"|Syntax|AI_InvalidResponseData|AI_TypeValidation|OutputParser\w*|Unicode\w+)(?:Error|Exception))\b"
        r"|AI_\w{0,40}Error: (?:Unsupported|Invalid|Type)|\[type=\w+, input_value="
    ),
    OtherCause(
        "the model wrote a call or an answer that does not fit",
        "Ask it again, or take another model.",
        of_api=False,
    ): (
        r"failed to call a function|tool call validation failed|tool_use_failed|failed_generation|invalid sequence as part of tool ?use"
        r"|hallucinat|error parsing tool call|output_parse_failed|could not finish the message|malformed_function_call|no valid tool call"
        r"|model did not call a tool|model output|generated (?:an )?invalid"
    ),
    OtherCause("the API did not accept the key", "Check the key, and that it belongs to this provider."): (
        r"(?:incorrect|invalid|missing|expired|wrong|no|provide an?) (?:\w+ )?(?:api|access|auth\w*)[ _-]?(?:key|token)\b|invalid_api_key"
        r"|(?:api|access)[ _-]key (?:not|is|was|has|expired|provided)|x-api-key|invalid[ _]authentication|authentication[ _](?:error|fail\w*)"
        r"|unauthori[sz]ed|(?:token|credentials?|session) (?:has |have |is |are |was )?(?:been )?(?:expired|revoked|invalid)|security token"
        r"|unrecognizedclient|(?:load|locate|find) (?:the |your |any )?(?:default )?credentials|authenticationerror|bearer auth"
    ),
    OtherCause("the account has no money or quota left", "Check the account and its limits."): (
        r"insufficient[ _-]?(?:balance|quota|credits?|funds)|credit balance|\bbilling|payment required|current quota|(?:out of|more|enough) "
        r"(?:\w+ )?credits|credit limit|arrearage|(?:usage|spend\w*) (?:limit|cap)|quota (?:exceeded|exhausted|limit)|premium request|余额"
    ),
    OtherCause("too many requests or tokens were sent", "Wait, or check the limits of the account."): (
        r"rate[ _-]?limit|too many requests|resource[ _]exhausted|throttl|(?:tokens|requests) per (?:min|hour|day)|concurrency limit"
    ),
    OtherCause("the account may not use this", "Check what the account may use."): (
        r"permission[_ ](?:denied|error)|\bforbidden|access(?: to \S+)?(?: is| was)? denied|accessdenied|(?:not|n't) (?:have access|authorized)"
        r"|not allowed to (?:sample|use|access)|must be verified|organization has been|not enabled for your|not available in your"
    ),
    OtherCause("the API found the content unsafe", "Change the content."): (
        r"content[ _](?:management|filter\w*|polic\w+|violation)|safety (?:system|filter|check)|moderation|\bflagged\b|datainspection"
        r"|inappropriate content|considered (?:as )?high\s+risk|violat\w{1,8} [\w ]{0,40}polic|prohibited_content|output blocked|usage polic|cybersecurity|敏感"
    ),
    OtherCause(
        "the request is longer than the model's context, or larger than the server allows",
        "Shorten the history or what is in it, or use a model with a longer context.",
    ): (
        r"(?:context|token|size|payload|request size)[ _](?:length|window|limit|size)|(?:max(?:imum)?|allowed) (?:\w+ )?"
        r"(?:context|prompt|input|model|token)s?\b|(?:prompt|input|request|content|message|conversation|history)s?(?: \w+)? (?:is|are|was)? ?too (?:long|large|big)"
        r"|too many (?:\w+ ){0,2}(?:tokens|bytes|images|pages)|too much media|exceed\w{0,8} (?:the )?(?:\w+ ){0,4}(?:context|tokens?|maximum length)\b"
        r"|input tokens? (?:count|exceeded)|reduce the length|entity too large|request[ _]too[ _]large|input length (?:should|exceeds|and)"
        r"|n_ctx|exceeds \d+ ?mb|image exceeds|max(?:imum)? (?:image|file|payload|request) size|(?:at most|maximum of|more than) \d+ images?"
    ),
    OtherCause("the API does not have this model, or not here", "Check the name of the model."): (
        r"\bmodels?\b[^.{}]{0,90}? (?:do(?:es)? not exist|not exist|not found|is not (?:available|supported|found|accessible|deployed)\b(?! with| in | for \w+ing))"
        r"|model[_ ]not[_ ](?:found|supported|available|exist)|(?:no such|unknown|unsupported|unrecognized) model\b|invalid model\b"
        r"|not a valid model|model (?:identifier|id|name) (?:is|was|not)|no endpoints found (?:for|matching)|try pulling it first|deploymentnotfound"
        r"|(?:model|version)\b[^.{}]{0,60} (?:no longer|has been) (?:available|supported|retired|deprecated|decommissioned|removed|shut)"
        r"|on-demand throughput|no (?:available )?(?:providers?|channels?) (?:found|available|for|under)|api deployment for this resource"
    ),
    OtherCause("the address is not one of the API", "Check the base URL and the endpoint."): (
        r"\b404\b.{0,30}not found|invalid url\b|unknown (?:request )?url|method not allowed|resource (?:you requested )?(?:was |could )?not (?:be )?found"
        r"|not supported (?:by|with|in|on) (?:the |this )?(?:responses|chat|v1/)|/v\d\w*+(?:/\w++){0,4} is not supported|api_not_supported|requested api"
    ),
    OtherCause("the model's chat template refused the messages", "Compare them with the template."): (
        r"jinja|chat[ _]template\b|prompt template|raise_exception|template (?:error|render)"
    ),
    NOT_STARTED_WITH: (r"requires --\w|--enable-\w"),
    OtherCause("the body is not JSON", "Look at how it was written, and at what cut it."): (
        r"invalid json payload received\. (?:unexpected|expected|unable|closing)|could not parse the json body"
    ),
    OtherCause(
        "the server could not make a grammar of a schema",
        "Simplify the schemas of the tools and of the answer; a `pattern` is a usual cause.",
    ): r"failed to parse grammar",
    OtherCause("the server failed or was overloaded", "Send the request again later."): (
        r"overloaded|internal[ _]?server[ _]?error|service[ _](?:is |temporarily )*unavailable|serviceunavailable|bad gateway|gateway time-?out"
        r"|upstream connect|at capacity|model is (?:currently )?(?:loading|busy)|degraded function|try again later|failed to initialize samplers|out of memory"
    ),
    OtherCause("the connection failed", "Check the network, the address and the timeouts."): (
        r"\be(?:connre\w+|notfound|timedout|pipe|ai_again)\b|connection (?:error|refused|reset|timed|aborted|closed)|timed? ?out\b|socket hang up"
        r"|fetch failed|getaddrinfo|certificate|network error|premature close|chunked read|sse stream|\bstream (?:ended|closed) (?:un|pre|bef)"
    ),
    SAYS_NOTHING: (
        r"\bno body\b|messages parameter is illegal|参数非法。|invalid api parameter, please check|input validation error\W*\Z|(?:\A|: )invalid input\W*\Z"
        r"|request contains an invalid argument|\A\W*invalid json payload received\W*\Z|provider returned error\W*\Z|param incorrect|contains invalid parameters|check your request parameters"
        r"|(?:\A|[:\d] )invalid[ _]payload\W*\Z|does not match the expected schema\W*\Z"
        r"|invalid parameter combination|improperly formed request|(?:\A|: )invalid request error trace_id: \w+\W*\Z|\A\W*(?:\w*error\W*)?(?:[45]\d\d\W*)*(?:bad request|invalid[ _]request(?:[ _]error)?)\W*\Z"
    ),
}
_COMPILED = [(cause, re.compile(words, re.IGNORECASE)) for cause, words in _CAUSES.items()]
_MOST = 20_000  # characters that are read


def other_cause(text: str) -> OtherCause | None:
    """Returns what an error text is about if it is not about the content of the request, or `None`.

    Args:
        text: The error text, or the whole error body.

    Returns:
        The cause with what to do, or `None` if the text has no word of one.

    Example:
        >>> other_cause("402 Insufficient Balance").what
        'the account has no money or quota left'
    """
    read = text[:_MOST]
    return next((cause for cause, words in _COMPILED if words.search(read)), None)
