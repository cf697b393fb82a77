// A driver for `conformance run --command`: OpenAI Chat Completions with nothing but Java's standard library.
//
//     javac -d out *.java
//     conformance run --command "java -cp out Driver" --wire openai-chat
//
// It takes text and tools, and says that it refuses media. docs/conformance/driver-protocol.md has the protocol.

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

public final class Driver {
    private static final List<String> MEDIA =
            List.of("image_in_user", "pdf_in_user", "image_in_tool_result", "pdf_in_tool_result");

    public static void main(String[] arguments) throws IOException {
        var out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        var conversation = Json.object(Json.read(Files.readString(Path.of(env("CONVERSATION")))));
        var steps = Json.list(conversation.get("steps"));
        var chats = new LinkedHashMap<Object, Driver>();
        for (var step : steps) {
            var who = Json.object(step).getOrDefault("who", "0").toString();
            out.println(Json.write(chats.computeIfAbsent(who, one -> new Driver(conversation)).say(Json.object(step))));
        }
        if (steps.isEmpty()) out.println(Json.write(declared()));
    }

    static String env(String name) {
        return System.getenv().getOrDefault("CONFORMANCE_" + name, "");
    }

    private static Map<String, Object> declared() {
        var refused = new LinkedHashMap<String, Object>();
        for (var name : MEDIA) refused.put(name, "refused");
        return Json.of("name", "driver-java", "capabilities", refused, "features", List.of("conversations", "reload"));
    }

    private final Map<String, Map<String, Object>> tools = new LinkedHashMap<>();
    private List<Object> messages = new ArrayList<>();
    private List<Object> ran = new ArrayList<>();

    private Driver(Map<String, Object> conversation) {
        for (var tool : Json.list(conversation.get("tools"))) {
            tools.put((String) Json.object(tool).get("name"), Json.object(tool));
        }
        if (conversation.get("system") != null) messages.add(message("system", conversation.get("system")));
        for (var one : Json.list(conversation.get("history"))) {
            var turn = Json.object(one);
            var parts = Json.list(turn.get("parts"));
            if (turn.get("role").equals("user")) messages.addAll(user(parts));
            else messages.add(assistant(parts));
        }
    }

    private Map<String, Object> say(Map<String, Object> step) {
        ran = new ArrayList<>();
        if (Boolean.TRUE.equals(step.get("reloaded"))) messages = new ArrayList<>(Json.list(Json.read(Json.write(messages))));
        var before = new ArrayList<>(messages);
        try {
            var parts = Json.list(step.get("parts"));
            var said = user(parts);
            messages.addAll(unanswered(parts));
            messages.addAll(said);
            return told(answer());
        } catch (Wire.Failure failure) {
            messages = before;
            var reply = Json.of("text", failure.text, "error", failure.getMessage(), "error_class", failure.kind);
            if (failure.status != 0) reply.put("status", failure.status);
            reply.put("complete", false);
            reply.put("ran", ran);
            return reply;
        }
    }

    /** Asks until no tool is called. A call that the limit cut is never run. */
    private Wire.Answer answer() {
        var offered = new ArrayList<Object>();
        for (var tool : tools.values()) {
            var function = Json.of("name", tool.get("name"), "description", tool.get("description"));
            function.put("parameters", tool.get("parameters"));
            offered.add(Json.of("type", "function", "function", function));
        }
        while (true) {
            var answer = Wire.ask(messages, offered);
            if ("length".equals(answer.stop) && !answer.calls.isEmpty()) {
                messages.add(message("assistant", answer.text.isEmpty() ? "(cut off)" : answer.text));
                messages.add(message("user", "The token limit cut your tool call off. Please try again."));
                continue;
            }
            if (!answer.text.isEmpty() || !answer.calls.isEmpty()) messages.add(kept(answer.text, answer.calls));
            if (answer.calls.isEmpty()) return answer;
            for (var call : answer.calls) messages.add(result(call.id, run(call.name, call.arguments())));
        }
    }

    private String run(String name, String text) {
        var tool = tools.get(name);
        if (tool == null) return "Error: there is no tool " + name;
        Object given;
        try {
            given = Json.read(text);
        } catch (IllegalArgumentException error) {
            return "Error: the arguments are no JSON: " + error.getMessage();
        }
        ran.add(Json.of("name", name, "arguments", given));
        for (var one : Json.list(tool.get("results"))) {
            if (Json.object(one).get("arguments").equals(given)) return outcome(name, Json.object(one));
        }
        return "Error: unexpected arguments";
    }

    private static String outcome(String name, Map<String, Object> result) {
        if (result.containsKey("error")) return "Error: " + result.get("error");
        var value = result.get("value");
        var items = value instanceof List<?> list ? list : java.util.Arrays.asList(value);
        for (int n = 0; n < items.size(); n++) {
            if (Json.write(items.get(n)).contains("\"$media\"")) {
                return "Error: " + name + " returned media in value[" + n + "]: images and PDFs are not supported";
            }
        }
        return content(value);
    }

    /** Repairs calls at the end of the history that nobody answered. */
    private List<Object> unanswered(List<Object> parts) {
        var open = new ArrayList<Object>();
        var last = messages.isEmpty() ? Map.<String, Object>of() : Json.object(messages.get(messages.size() - 1));
        if (last.get("tool_calls") == null) return open;
        for (var call : Json.list(last.get("tool_calls"))) {
            var id = Json.object(call).get("id");
            if (parts.stream().noneMatch(part -> id.equals(Json.object(part).get("id")))) {
                open.add(result(id, "Error: the call was not run"));
            }
        }
        return open;
    }

    private static List<Object> user(List<Object> parts) {
        var messages = new ArrayList<Object>();
        var said = new ArrayList<Object>();
        for (var one : parts) {
            var part = Json.object(one);
            switch ((String) part.get("type")) {
                case "tool_result" -> messages.add(result(part.get("id"), content(part.get("value"))));
                case "text" -> said.add(Json.of("type", "text", "text", part.get("text")));
                default -> throw new Wire.Failure("NotSupported", "images and PDFs are not supported", "", 0);
            }
        }
        if (!said.isEmpty()) messages.add(message("user", said));
        return messages;
    }

    private static Map<String, Object> assistant(List<Object> parts) {
        var text = new StringBuilder();
        var calls = new ArrayList<Wire.Call>();
        for (var one : parts) {
            var part = Json.object(one);
            if (part.get("type").equals("text")) {
                text.append(part.get("text"));
            } else {
                var call = new Wire.Call(0);
                call.id = (String) part.get("id");
                call.name = (String) part.get("name");
                call.given.append(Json.write(part.get("arguments")));
                calls.add(call);
            }
        }
        return kept(text.toString(), calls);
    }

    private static Map<String, Object> kept(String text, List<Wire.Call> calls) {
        var said = message("assistant", text.isEmpty() ? null : text);
        if (calls.isEmpty()) return said;
        var asked = new ArrayList<Object>();
        for (var call : calls) {
            var function = Json.of("name", call.name, "arguments", call.arguments());
            asked.add(Json.of("id", call.id, "type", "function", "function", function));
        }
        said.put("tool_calls", asked);
        return said;
    }

    private static Map<String, Object> message(String role, Object content) {
        return Json.of("role", role, "content", content);
    }

    private static Map<String, Object> result(Object id, String content) {
        return Json.of("role", "tool", "tool_call_id", id, "content", content);
    }

    private static String content(Object value) {
        return value instanceof String text ? (text.isEmpty() ? "(no output)" : text) : Json.write(value);
    }

    private Map<String, Object> told(Wire.Answer answer) {
        var usage = answer.usage;
        var counts = Json.of("input", usage.get("prompt_tokens"), "output", usage.get("completion_tokens"));
        counts.put("cached", Json.object(usage.get("prompt_tokens_details")).get("cached_tokens"));
        counts.put("reasoning", Json.object(usage.get("completion_tokens_details")).get("reasoning_tokens"));
        var stops = Map.of("tool_calls", "tool", "content_filter", "filter");
        var stop = answer.stop == null ? null : stops.getOrDefault(answer.stop, answer.stop);
        var reply = Json.of("text", answer.text, "stop", stop, "usage", counts);
        reply.put("pieces", answer.pieces);
        reply.put("ran", ran);
        return reply;
    }
}
