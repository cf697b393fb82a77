# ellmer: the cells of its column, each with the symbol that the page should show. It needs R with ellmer, and writes one line of
# JSON for each cell, as cells.py does.

suppressWarnings(suppressMessages(library(ellmer)))

server <- Sys.getenv("STRICT_SERVER")
space <- asNamespace("ellmer")
functions <- Filter(is.function, mget(ls(space, all.names = TRUE), envir = space))
parameters <- unlist(lapply(functions, function(each) names(formals(each))))
methods <- names(Filter(is.function, as.list(space$Chat$public_methods)))
defined <- unique(c(names(functions), parameters, methods))

cell <- function(symbol, kind, check) list(symbol = symbol, kind = kind, check = check)
runs <- function(symbol, program) cell(symbol, "program", program)

# Names of exported functions, methods of a chat (`$name`), and parameters: `name(parameter)`.
has <- function(symbol, ...) {
  cell(symbol, "names", function() {
    for (name in c(...)) {
      fun <- sub("\\(.*", "", name)
      found <- if (startsWith(fun, "$")) space$Chat$public_methods[[substring(fun, 2)]] else getExportedValue("ellmer", fun)
      stopifnot(is.function(found))
      if (grepl("(", name, fixed = TRUE)) stopifnot(sub(".*\\((.*)\\)", "\\1", name) %in% names(formals(found)))
    }
  })
}

# No function, method or parameter has a name that fits the pattern.
nothing <- function(pattern, but = "^$", symbol = "–") {
  cell(symbol, "search", function() {
    found <- grep(pattern, defined, value = TRUE, ignore.case = TRUE, perl = TRUE)
    found <- found[!grepl(but, found, ignore.case = TRUE, perl = TRUE)]
    if (length(found)) stop("there are ", paste(head(found, 8), collapse = ", "))
  })
}

chat_here <- function() {
  chat_openai_compatible(paste0(server, "/v1"), model = "gpt-4.1", credentials = function() "k", echo = "none")
}
person <- type_object(name = type_string(), age = type_integer())
add <- tool(
  function(x, y) x + y, "Adds two numbers.",
  arguments = list(x = type_number(), y = type_number()), name = "add"
)
png <- paste0(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9", "awAAAABJRU5ErkJggg=="
)

structured <- function() stopifnot(chat_here()$chat_structured("Ann is 33.", type = person)$name == "Ann")

structured_calls_no_tools <- function() {
  chat <- chat_here()
  chat$register_tool(add)
  chat$chat_structured("Ann is 33. Use the tool.", type = person)
  stopifnot(length(chat$get_turns()) == 2)
}

refused_by_a_callback <- function() {
  chat <- chat_here()
  chat$register_tool(add)
  chat$on_tool_request(function(request) tool_reject("no"))
  suppressWarnings(chat$chat("What is 2 + 3? Use the tool."))
  stopifnot(any(grepl("rejected", capture.output(print(chat)))))
}

image_as_a_result <- function() {
  chat <- chat_here()
  chat$register_tool(tool(function() ContentImageInline("image/png", png), "Shows it.", name = "picture"))
  stopifnot(grepl("image", chat$chat("Show the picture. Use the tool.")))
}

saved_and_replayed <- function() {
  chat <- chat_here()
  chat$chat("Hi")
  turns <- lapply(lapply(chat$get_turns(), contents_record), contents_replay)
  stopifnot(identical(turns[[1]]@text, "Hi"))
}

# Of four histories, ellmer sends one in a form that the server accepts: a call without a result.
broken_histories <- function() {
  request <- ContentToolRequest("c1", "add", list(x = 1, y = 2))
  misnamed <- ContentToolRequest("c1", "a dd", list(x = 1, y = 2))
  asked <- AssistantTurn(list(request))
  result <- function(value, of = request) ContentToolResult(value, request = of)
  histories <- list(
    list(UserTurn("a"), asked),
    list(UserTurn("a"), AssistantTurn("b"), UserTurn(list(result(5)))),
    list(UserTurn("a"), asked, UserTurn(list(result(5), result(6)))),
    list(UserTurn("a"), AssistantTurn(list(misnamed)), UserTurn(list(result(5, misnamed))))
  )
  refused <- vapply(histories, function(turns) {
    chat <- chat_here()
    chat$set_turns(turns)
    inherits(try(chat$chat("go"), silent = TRUE), "try-error")
  }, logical(1))
  stopifnot(identical(refused, c(FALSE, TRUE, TRUE, TRUE)))
}

many <- function() stopifnot(length(parallel_chat_text(chat_here(), list("a", "b"))) == 2)

cost <- function() {
  chat <- chat_here()
  chat$chat("Hi")
  stopifnot(inherits(chat$get_cost(), "numeric"), nrow(chat$get_tokens()) == 1)
}

cells <- list(
  "A value of a Python type" = runs("✓", structured),
  "The library chooses the mode for the model and the schema, and you can set it" = nothing("structured_output_mode|output_mode|strategy"),
  "An answer that does not fit the schema is requested again" = nothing("max_retries|output_retries"),
  "Partial objects, typed" = nothing("stream_structured|partial_object"),
  "Together with tools" = runs("–", structured_calls_no_tools),
  "Call id, dependencies, progress for a tool" = nothing("tool_?context|run_?context|deps"),
  "Limits of requests, calls, tokens, cost" = nothing("usage_?limit|max_cost|budget", but = "thinking|reasoning"),
  "At a limit, the model answers with what it has" = nothing("at_?limit|on_?limit|limit_?behaviou?r"),
  "A person approves calls, and can change their arguments" = runs("◐", refused_by_a_callback),
  "The decision comes later, in another process" = nothing("defer_|deferred|approv|pending_call", but = "deferred_method"),
  "Images and PDFs as results" = runs("✓", image_as_a_result),
  "Tools that the provider runs" = has("✓", "claude_tool_web_search", "google_tool_web_search", "openai_tool_web_search"),
  "A running tool asks the user" = nothing("elicit|ask_user"),
  "Uses tools of MCP servers; serves its own tools" = has("◐", "$register_tools"),
  "Tools that the model finds by a search" = nothing("tool_?search|search_?tools|defer_?loading"),
  "A tool whose result is the answer, without another request" = nothing("return_?direct|final_?(tool|result)|direct_?result"),
  "An MCP server asks the user" = nothing("elicit"),
  "An MCP server asks the model" = nothing("sampling"),
  "Resources and prompts of MCP servers" = nothing("list_resources|read_resource|get_prompt"),
  "OAuth of MCP servers" = nothing("mcp"),
  "Citations as content" = nothing("ContentCitation|contents?_citation"),
  "Images in an answer become content" = has("✓", "ContentImageInline"),
  "Text, docx, xlsx" = nothing("content_file|docx|xlsx|content_document"),
  "Uploads to the provider" = has("✓", "google_upload", "claude_file_upload"),
  "An upload that is sent to another provider" = nothing("re_?upload|upload_to"),
  "Content that cannot be sent is described in words, and the chat continues" = nothing("describe_(image|media|content)|placeholder_for"),
  "The next provider answers if one is down" = nothing("fallback", but = "^fallback$|json_fallback"),
  "A message is added while the model works" = nothing("enqueue|add_?message|steer|interject"),
  "A long history is made shorter" = nothing("compact|summari[sz]e_turns|truncate_turns", but = "^compact$"),
  "The provider makes a long history shorter" = nothing("context_management|compaction"),
  "A conversation is saved as JSON and continued" = runs("✓", saved_and_replayed),
  "A history from elsewhere with a broken part is sent in a form that the provider accepts" = runs("◐", broken_histories),
  "One setting for thinking" = has("◐", "params(reasoning_effort)", "params(reasoning_tokens)"),
  "Parameters that a model does not take are left out, with a warning" = has("◐", "params"),
  "Cancelling a stream" = has("✓", "stream_controller", "$stream(controller)"),
  "A chat app in the browser; in the terminal" = has("✓", "live_browser", "live_console"),
  "Clients of Vercel's AI SDK, with approval" = nothing("vercel|ui_message"),
  "Clients of AG-UI, with approval" = nothing("ag_?ui"),
  "Arguments of a call while the model writes them" = nothing("tool_?(call|request)_?delta|arguments_delta"),
  "A page that is loaded again shows the conversation" = nothing("dump_messages|to_messages"),
  "A second request of a conversation waits" = nothing("when_busy|request_queue"),
  "Many prompts at once" = runs("✓", many),
  "After an interruption, they continue from a file" = has("◐", "batch_chat(path)"),
  "After an interruption, they return the answers so far" = has("✓", "parallel_chat(on_error)"),
  "Batch APIs, for half the price" = has("✓", "batch_chat", "batch_chat_structured"),
  "Cost of a conversation" = runs("✓", cost),
  "Newer prices without a new version" = nothing("update_prices|refresh_prices", symbol = "◐"),
  "Tokens counted beforehand" = nothing("token_count|count_tokens", symbol = "◐"),
  "A proxy; your own HTTP client" = nothing("proxy|http_client"),
  "Graphs of agents, hand-overs" = nothing("hand_?off|hand_?over|agent_graph"),
  "Durable execution (Temporal, DBOS)" = nothing("temporal|dbos", but = "temporary"),
  "Embeddings, vector stores, retrieval" = nothing("embed|vector_?store", but = "embedded"),
  "Speech in real time" = nothing("realtime|speech"),
  "Your own evaluations" = nothing("eval_log|export_eval|vitals")
)

for (row in names(cells)) {
  each <- cells[[row]]
  error <- tryCatch({
    suppressMessages(each$check())
    ""
  }, error = function(raised) conditionMessage(raised))
  line <- list(row = row, symbol = each$symbol, kind = each$kind, error = paste(error, collapse = " "))
  cat(jsonlite::toJSON(line, auto_unbox = TRUE), "\n", sep = "")
}
