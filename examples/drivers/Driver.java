// A driver in Java: a small table in memory, asked over a pipe (docs/drivers.md).
//
// nbcc check --system "java Driver.java"; with the argument `requested` it merges equal rows in the order of their
// requested times, which is wrong.

import java.io.*;
import java.util.*;
import java.util.stream.*;

public class Driver {
    record Log(int requested, int version, int group, List<Map<String, Object>> rows) {}

    static final class Instant {
        String action;
        String state = "requested";
        Integer completed;

        Instant(String action) { this.action = action; }
    }

    static final class Actor {
        int time, done;
        List<Map<String, Object>> rows;
    }

    final boolean byRequest, byEventTime;
    final int groups;
    int clock;
    final TreeMap<Integer, Instant> instants = new TreeMap<>();
    final List<Log> logs = new ArrayList<>();
    final TreeMap<Integer, Set<Integer>> plans = new TreeMap<>(); // barrier -> file groups
    final Map<List<Integer>, Map<String, Map<String, Object>>> bases = new HashMap<>(); // barrier, group -> rows
    final Map<String, Actor> actors = new HashMap<>();

    Driver(Map<String, Object> world, boolean byRequest) {
        Map<String, Object> table = object(world.get("table"));
        this.byRequest = byRequest;
        byEventTime = table.get("merge_mode").equals("EVENT_TIME_ORDERING");
        groups = number(table.get("buckets")) * number(table.get("partitions"));
    }

    Integer completed(Log log) { return instants.get(log.requested).completed; }

    List<Log> completedLogs(int group) {
        return logs.stream().filter(log -> log.group == group && completed(log) != null)
            .sorted(Comparator.comparing(this::completed).thenComparing(Log::version)).toList();
    }

    /** A log belongs to the slice with the greatest barrier at or before its completion time; 0: no barrier. */
    TreeMap<Integer, List<Log>> slices(int group) {
        TreeMap<Integer, List<Log>> slices = new TreeMap<>(Map.of(0, new ArrayList<>()));
        plans.forEach((barrier, parts) -> { if (parts.contains(group)) slices.put(barrier, new ArrayList<>()); });
        for (Log log : completedLogs(group)) slices.floorEntry(completed(log)).getValue().add(log);
        return slices;
    }

    Map<String, Map<String, Object>> merged(int group, int until) {
        int barrier = slices(group).headMap(until, true).keySet().stream()
            .filter(each -> each > 0 && instants.get(each).completed != null).max(Integer::compare).orElse(0);
        Map<String, Map<String, Object>> rows = new TreeMap<>(bases.getOrDefault(List.of(barrier, group), Map.of()));
        for (Log log : completedLogs(group)) {
            if (completed(log) <= barrier || completed(log) > until) continue;
            for (Map<String, Object> row : log.rows) {
                Map<String, Object> merged = new HashMap<>(row);
                merged.put("requested", log.requested);
                merged.put("completed", completed(log));
                rows.merge((String) row.get("key"), merged, (one, two) -> rank(one, two) > 0 ? one : two);
            }
        }
        return rows;
    }

    int rank(Map<String, Object> one, Map<String, Object> two) {
        int byOrdering = byEventTime ? Integer.compare(number(one.get("ordering")), number(two.get("ordering"))) : 0;
        String last = byRequest ? "requested" : "completed";
        return byOrdering != 0 ? byOrdering : Integer.compare(number(one.get(last)), number(two.get(last)));
    }

    void step(Actor me, String verb, Map<String, Object> args) {
        int group = number(args.getOrDefault("group", 0)), version = number(args.getOrDefault("version", 0));
        switch (verb) {
            case "requests_instant" -> instants.put(me.time = ++clock, new Instant("deltacommit"));
            case "schedules_plan" -> {
                Set<Integer> parts = IntStream.range(0, groups)
                    .filter(each -> !isPlanned(each) && !slices(each).lastEntry().getValue().isEmpty())
                    .boxed().collect(Collectors.toSet());
                plans.put(me.time = ++clock, parts);
                instants.put(me.time, new Instant("compaction"));
            }
            case "starts_writing", "starts_plan" -> instants.get(me.time).state = "inflight";
            case "writes_log" -> logs.add(new Log(me.time, version, group, me.rows.stream()
                .filter(row -> number(row.get("group")) == group && number(row.get("version")) == version).toList()));
            case "writes_base" -> bases.put(List.of(me.time, group), merged(group, me.time));
            case "takes_completion_time" -> me.done = ++clock;
            case "publishes_instant" -> {
                Instant instant = instants.get(me.time);
                instant.action = instant.action.equals("compaction") ? "commit" : instant.action;
                instant.state = "completed";
                instant.completed = me.done;
            }
            default -> { } // takes_lock: one thread needs no lock
        }
    }

    boolean isPlanned(int group) {
        return plans.entrySet().stream()
            .anyMatch(plan -> plan.getValue().contains(group) && instants.get(plan.getKey()).completed == null);
    }

    // Answers

    Object timeline() {
        return instants.entrySet().stream().map(entry -> {
            Map<String, Object> instant = new HashMap<>(Map.of("requested", entry.getKey(),
                "action", entry.getValue().action, "state", entry.getValue().state));
            instant.put("completed", entry.getValue().completed);
            return instant;
        }).toList();
    }

    Object fileSlices() {
        List<Object> found = new ArrayList<>();
        for (int group = 0; group < groups; group++) {
            for (var slice : slices(group).entrySet()) {
                int barrier = slice.getKey();
                if (barrier == 0 && slice.getValue().isEmpty()) continue;
                Map<String, Object> entry = new HashMap<>();
                entry.put("group", group);
                entry.put("barrier", barrier == 0 ? null : (Object) barrier);
                entry.put("base", barrier > 0 && instants.get(barrier).completed != null ? (Object) barrier : null);
                entry.put("logs", slice.getValue().stream().map(log -> List.of(log.requested, log.version)).toList());
                found.add(entry);
            }
        }
        return found;
    }

    Object rows(Object until) {
        int time = until == null ? clock : number(until);
        return IntStream.range(0, groups).boxed().flatMap(group -> merged(group, time).values().stream())
            .filter(row -> !(boolean) row.get("deleted"))
            .sorted(Comparator.comparing(row -> (String) row.get("key"))).toList();
    }

    Map<String, Object> answer(Map<String, Object> request) {
        Map<String, Object> args = object(request.getOrDefault("args", Map.of()));
        String actor = (String) request.get("actor");
        switch ((String) request.get("do")) {
            case "start" -> {
                Actor me = new Actor();
                me.time = number(args.getOrDefault("instant", 0));
                me.rows = objects(args.getOrDefault("rows", List.of()));
                actors.put(actor, me);
            }
            case "step" -> step(actors.get(actor), ((String) request.get("action")).split("_", 2)[1], args);
            case "crash" -> actors.remove(actor);
            case "timeline" -> { return Map.of("ok", timeline()); }
            case "slices" -> { return Map.of("ok", fileSlices()); }
            case "rows" -> {
                String kind = (String) request.get("kind");
                return Set.of("snapshot", "as_of").contains(kind)
                    ? Map.of("ok", rows(request.get("until"))) : Map.of("missing", kind + " read");
            }
            default -> { return Map.of("missing", request.get("do")); }
        }
        return Map.of("ok", Map.of());
    }

    public static void main(String[] args) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        Driver table = null;
        for (String line; (line = in.readLine()) != null; System.out.flush()) {
            Map<String, Object> request = object(new Json(line).value()), answer = Map.of("ok", Map.of());
            if (request.get("do").equals("hello"))
                answer = Map.of("ok", Map.of("name", "toy in Java",
                    "operations", List.of("upsert", "schedule_compaction", "run_compaction"),
                    "verbs", List.of("crash", "timeline", "slices", "rows")));
            else if (request.get("do").equals("new"))
                table = new Driver(object(request.get("world")), args.length > 0 && args[0].equals("requested"));
            else
                answer = table.answer(request);
            System.out.println(Json.text(answer));
        }
    }

    // JSON, as far as it is needed here

    @SuppressWarnings("unchecked")
    static Map<String, Object> object(Object value) { return (Map<String, Object>) value; }

    @SuppressWarnings("unchecked")
    static List<Map<String, Object>> objects(Object value) { return (List<Map<String, Object>>) value; }

    static int number(Object value) { return ((Number) value).intValue(); }

    static final class Json {
        final String text;
        int at;

        Json(String text) { this.text = text; }

        char next() {
            while (" ,:".indexOf(text.charAt(at)) >= 0) at++;
            return text.charAt(at);
        }

        Object value() {
            switch (next()) {
                case '{' -> {
                    Map<String, Object> object = new HashMap<>();
                    for (at++; next() != '}'; ) object.put((String) value(), value());
                    at++;
                    return object;
                }
                case '[' -> {
                    List<Object> list = new ArrayList<>();
                    for (at++; next() != ']'; ) list.add(value());
                    at++;
                    return list;
                }
                case '"' -> {
                    StringBuilder string = new StringBuilder();
                    for (at++; text.charAt(at) != '"'; at++) {
                        if (text.charAt(at) == '\\' && text.charAt(++at) == 'u') {
                            string.append((char) Integer.parseInt(text.substring(at + 1, at + 5), 16));
                            at += 4;
                        } else string.append(text.charAt(at));
                    }
                    at++;
                    return string.toString();
                }
                default -> {
                    int from = at;
                    while (at < text.length() && ",:]} ".indexOf(text.charAt(at)) < 0) at++;
                    String word = text.substring(from, at);
                    return switch (word) {
                        case "null" -> null;
                        case "true", "false" -> Boolean.valueOf(word);
                        default -> Double.valueOf(word);
                    };
                }
            }
        }

        static String text(Object value) {
            if (value instanceof Map<?, ?> map)
                return map.entrySet().stream().map(each -> text(each.getKey()) + ":" + text(each.getValue()))
                    .collect(Collectors.joining(",", "{", "}"));
            if (value instanceof Collection<?> list)
                return list.stream().map(Json::text).collect(Collectors.joining(",", "[", "]"));
            if (value instanceof Double number) return String.valueOf(number.intValue());
            return value instanceof String string ? '"' + string.replace("\\", "\\\\").replace("\"", "\\\"") + '"'
                : String.valueOf(value);
        }
    }
}
