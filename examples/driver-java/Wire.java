import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Over the wire: requests, answers, streams. */
final class Wire {
    /** What went wrong. `kind` is told to the suite, `text` is what had come of an answer. */
    static final class Failure extends RuntimeException {
        private static final long serialVersionUID = 1;
        final String kind;
        final String text;
        final int status;

        Failure(String kind, String message, String text, int status) {
            super(message);
            this.kind = kind;
            this.text = text;
            this.status = status;
        }
    }

    static final class Call {
        final int index;
        String id = "";
        String name = "";
        final StringBuilder given = new StringBuilder();

        Call(int index) {
            this.index = index;
        }

        String arguments() {
            return given.isEmpty() ? "{}" : given.toString();
        }
    }

    static final class Answer {
        String text = "";
        String stop;
        Map<String, Object> usage = Map.of();
        final List<Call> calls = new ArrayList<>();
        final List<Object> pieces = new ArrayList<>();

        void take(Map<String, Object> event, String said) {
            if (event.get("usage") != null) usage = Json.object(event.get("usage"));
            for (var one : Json.list(event.get("choices"))) {
                var choice = Json.object(one);
                if (choice.get("finish_reason") instanceof String reason) stop = reason;
                var message = Json.object(choice.get(said));
                for (var name : List.of("content", "refusal")) {
                    if (message.get(name) instanceof String piece && !piece.isEmpty()) {
                        text += piece;
                        pieces.add(piece);
                    }
                }
                for (var part : Json.list(message.get("tool_calls"))) call(Json.object(part));
            }
        }

        /** A part of a call: of a new one where its id is new, else of the last one at its index. */
        private void call(Map<String, Object> part) {
            int index = part.get("index") == null ? calls.size() : Integer.parseInt(part.get("index").toString());
            var known = calls.stream().filter(one -> one.index == index).reduce((first, last) -> last).orElse(null);
            var id = part.get("id") instanceof String text ? text : "";
            if (known == null || (!id.isEmpty() && !id.equals(known.id))) {
                known = new Call(index);
                calls.add(known);
            }
            if (!id.isEmpty()) known.id = id;
            var function = Json.object(part.get("function"));
            if (function.get("name") instanceof String name) known.name += name;
            if (function.get("arguments") instanceof String arguments) known.given.append(arguments);
        }
    }

    private static final boolean STREAM = Driver.env("MODE").contains("stream");
    private static final HttpClient CLIENT = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    static Answer ask(List<Object> messages, List<Object> tools) {
        var body = Json.of("model", Driver.env("MODEL"), "messages", messages);
        if (!tools.isEmpty()) body.put("tools", tools);
        if (STREAM) {
            body.put("stream", true);
            body.put("stream_options", Json.of("include_usage", true));
        }
        var response = sent(Json.write(body));
        var kind = response.headers().firstValue("content-type").orElse("");
        try (var stream = response.body()) {
            return STREAM && kind.startsWith("text/event-stream") ? folded(stream) : whole(stream);
        } catch (IOException error) {
            throw new Failure("Incomplete", "the connection broke: " + error.getMessage(), "", 0);
        }
    }

    private static HttpResponse<InputStream> sent(String body) {
        var request = HttpRequest.newBuilder(URI.create(Driver.env("BASE_URL") + "/chat/completions"))
                .header("authorization", "Bearer " + Driver.env("API_KEY"))
                .header("content-type", "application/json")
                .header("accept", STREAM ? "text/event-stream" : "application/json")
                .header("user-agent", "driver-java/1.0")
                .timeout(Duration.ofSeconds(20))
                .POST(HttpRequest.BodyPublishers.ofString(body, StandardCharsets.UTF_8))
                .build();
        int retries = Driver.env("MAX_RETRIES").isEmpty() ? 0 : Integer.parseInt(Driver.env("MAX_RETRIES"));
        for (int left = retries; ; left--) {
            try {
                var response = CLIENT.send(request, HttpResponse.BodyHandlers.ofInputStream());
                if (response.statusCode() == 200) return response;
                var refusal = refused(response);
                if (left == 0 || !Set.of(429, 500, 502, 503, 529).contains(response.statusCode())) throw refusal;
                Thread.sleep(pause(response));
            } catch (IOException | InterruptedException error) {
                throw new Failure("NoAnswer", "no answer came: " + error, "", 0);
            }
        }
    }

    private static long pause(HttpResponse<?> response) {
        var ms = response.headers().firstValue("retry-after-ms").map(Double::parseDouble);
        var seconds = response.headers().firstValue("retry-after").map(text -> 1000 * Double.parseDouble(text));
        return ms.or(() -> seconds).orElse(100.0).longValue();
    }

    private static Failure refused(HttpResponse<InputStream> response) throws IOException {
        int status = response.statusCode();
        var text = new String(response.body().readAllBytes(), StandardCharsets.UTF_8);
        Map<String, Object> error = Map.of();
        try {
            error = Json.object(Json.object(Json.read(text)).get("error"));
        } catch (IllegalArgumentException page) {
            // no JSON: its text is all there is
        }
        var tooLong = "context_length_exceeded".equals(error.get("code"));
        var kind = status == 429 ? "RateLimited" : tooLong ? "TooLong" : "APIError";
        return new Failure(kind, status + ": " + error.getOrDefault("message", text), "", status);
    }

    private static Answer whole(InputStream stream) throws IOException {
        var text = new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        Map<String, Object> found;
        try {
            found = Json.object(Json.read(text));
        } catch (IllegalArgumentException error) {
            throw new Failure("Incomplete", "the answer is no answer: " + error.getMessage(), "", 0);
        }
        if (found.get("error") != null) {
            throw new Failure("APIError", "" + Json.object(found.get("error")).get("message"), "", 0);
        }
        if (Json.list(found.get("choices")).isEmpty()) {
            throw new Failure("Incomplete", "the answer has no choices", "", 0);
        }
        var answer = new Answer();
        answer.take(found, "message");
        answer.pieces.clear();
        return answer;
    }

    /** Puts a stream together. It ends with a finish_reason, or is an error. */
    private static Answer folded(InputStream stream) {
        var answer = new Answer();
        var data = new ArrayList<String>();
        try {
            var lines = new Lines(stream);
            for (var line = lines.next(); line != null; line = lines.next()) {
                if (line.startsWith("data:")) {
                    data.add(line.startsWith("data: ") ? line.substring(6) : line.substring(5));
                } else if (line.isEmpty() && !data.isEmpty()) {
                    var text = String.join("\n", data);
                    data.clear();
                    if (text.equals("[DONE]")) break;
                    var event = Json.object(Json.read(text));
                    if (event.get("error") != null) {
                        var message = Json.object(event.get("error")).get("message");
                        throw new Failure("Incomplete", "" + message, answer.text, 0);
                    }
                    answer.take(event, "delta");
                }
            }
        } catch (IOException | IllegalArgumentException error) {
            throw new Failure("Incomplete", "the stream broke off: " + error.getMessage(), answer.text, 0);
        }
        if (answer.stop == null) {
            throw new Failure("Incomplete", "the stream ended without a finish_reason", answer.text, 0);
        }
        return answer;
    }

    /** The lines of a stream, whichever way they end: LF, CR or both. */
    private static final class Lines {
        private final InputStream stream;
        private boolean afterReturn;
        private boolean first = true;

        Lines(InputStream stream) {
            this.stream = new java.io.BufferedInputStream(stream);
        }

        String next() throws IOException {
            var bytes = new java.io.ByteArrayOutputStream();
            for (int one = stream.read(); ; one = stream.read()) {
                boolean skipped = one == '\n' && afterReturn && bytes.size() == 0;
                afterReturn = one == '\r';
                if (skipped) continue;
                if (one == -1 && bytes.size() == 0) return null;
                if (one == -1 || one == '\n' || one == '\r') return text(bytes);
                bytes.write(one);
            }
        }

        private String text(java.io.ByteArrayOutputStream bytes) {
            var line = bytes.toString(StandardCharsets.UTF_8);
            var marked = first && line.startsWith("\uFEFF");
            first = false;
            return marked ? line.substring(1) : line;
        }
    }
}
