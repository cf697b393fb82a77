import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** JSON, which Java's standard library does not have. Numbers stay as they are written. */
final class Json {
    /** A number, by its text. */
    record Number(String text) {
        @Override
        public String toString() {
            return text;
        }
    }

    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    static Map<String, Object> of(Object... members) {
        var made = new LinkedHashMap<String, Object>();
        for (int n = 0; n < members.length; n += 2) made.put((String) members[n], members[n + 1]);
        return made;
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> object(Object value) {
        return value instanceof Map<?, ?> ? (Map<String, Object>) value : Map.of();
    }

    @SuppressWarnings("unchecked")
    static List<Object> list(Object value) {
        return value instanceof List<?> ? (List<Object>) value : List.of();
    }

    static Object read(String text) {
        var reader = new Json(text);
        var value = reader.value();
        reader.space();
        if (reader.at < text.length()) throw reader.unexpected();
        return value;
    }

    private Object value() {
        space();
        switch (peek()) {
            case '{':
                return members();
            case '[':
                return items();
            case '"':
                return string();
            case 't':
                return word("true", true);
            case 'f':
                return word("false", false);
            case 'n':
                return word("null", null);
            default:
                return number();
        }
    }

    private Map<String, Object> members() {
        var found = new LinkedHashMap<String, Object>();
        at++;
        space();
        while (peek() != '}') {
            space();
            var name = string();
            space();
            take(':');
            found.put(name, value());
            space();
            if (peek() != '}') take(',');
        }
        at++;
        return found;
    }

    private List<Object> items() {
        var found = new ArrayList<Object>();
        at++;
        space();
        while (peek() != ']') {
            found.add(value());
            space();
            if (peek() != ']') take(',');
        }
        at++;
        return found;
    }

    private String string() {
        take('"');
        var found = new StringBuilder();
        for (char next = take(); next != '"'; next = take()) found.append(next == '\\' ? escaped() : next);
        return whole(found);
    }

    private char escaped() {
        char next = take();
        int place = "bfnrt".indexOf(next);
        if (place >= 0) return "\b\f\n\r\t".charAt(place);
        if (next != 'u') return next;
        at += 4;
        if (at > text.length()) throw unexpected();
        return (char) Integer.parseInt(text.substring(at - 4, at), 16);
    }

    /** The text with half characters replaced: no UTF-8 has them. */
    private static String whole(CharSequence found) {
        var made = new StringBuilder();
        found.codePoints().forEach(point -> made.appendCodePoint(point >= 0xD800 && point < 0xE000 ? 0xFFFD : point));
        return made.toString();
    }

    private Object number() {
        int start = at;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) at++;
        if (start == at) throw unexpected();
        return new Number(text.substring(start, at));
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) throw unexpected();
        at += word.length();
        return value;
    }

    private void space() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) at++;
    }

    private char peek() {
        if (at >= text.length()) throw unexpected();
        return text.charAt(at);
    }

    private char take() {
        char next = peek();
        at++;
        return next;
    }

    private void take(char wanted) {
        if (take() != wanted) throw unexpected();
    }

    private IllegalArgumentException unexpected() {
        return new IllegalArgumentException("unexpected text at character " + at);
    }

    static String write(Object value) {
        if (value instanceof String text) return quoted(text);
        if (value instanceof Map<?, ?> map) {
            var members = new ArrayList<String>();
            map.forEach((name, one) -> members.add(quoted((String) name) + ":" + write(one)));
            return "{" + String.join(",", members) + "}";
        }
        if (value instanceof List<?> list) return "[" + String.join(",", list.stream().map(Json::write).toList()) + "]";
        return String.valueOf(value);
    }

    private static String quoted(String text) {
        var made = new StringBuilder("\"");
        for (char one : text.toCharArray()) {
            if (one == '"' || one == '\\') made.append('\\').append(one);
            else if (one < ' ') made.append(String.format("\\u%04x", (int) one));
            else made.append(one);
        }
        return made.append('"').toString();
    }
}
