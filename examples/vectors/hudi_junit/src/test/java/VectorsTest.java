import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.spark.sql.DataFrameReader;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Reads vectors with Apache Hudi on Spark: {@code mvn test -Dvectors=DIR}.
 *
 * <p>Prints how many reads agree, and the known differences by name. A test, one for each vector, fails if another read
 * differs.
 */
class VectorsTest {
    static final String ENGINE = "Apache Hudi 1.2.0";
    static final String READ = "hoodie.datasource.read.";
    static final String QUERY = "hoodie.datasource.query.type";
    static final List<String> KINDS = List.of("snapshot", "as_of", "incremental", "read_optimized");
    static final ObjectMapper JSON = new ObjectMapper();
    static final Map<String, Integer> COUNTS = new TreeMap<>();
    static SparkSession spark;

    @BeforeAll
    static void start() {
        spark = SparkSession.builder().master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.session.timeZone", "UTC")
            .config("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
            .config("spark.kryo.registrator", "org.apache.spark.HoodieSparkKryoRegistrar")
            .config("spark.sql.extensions", "org.apache.spark.sql.hudi.HoodieSparkSessionExtension")
            .config("spark.sql.adaptive.enabled", "false")
            // A table has a few rows: to compile each query takes longer than to run it.
            .config("spark.sql.codegen.wholeStage", "false").config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
            .getOrCreate();
        spark.sparkContext().setLogLevel("OFF");
        spark.sparkContext().hadoopConfiguration().clear(); // its defaults are sent with every job
    }

    @AfterAll
    static void print() {
        COUNTS.forEach((name, count) -> System.out.printf("%6d %s%n", count, name));
        spark.stop();
    }

    @TestFactory
    Stream<DynamicTest> vectors() throws IOException {
        Path folder = Path.of(System.getProperty("vectors"));
        return Files.list(folder).filter(each -> Files.exists(each.resolve("meta.json"))).sorted()
            .map(each -> dynamicTest(each.getFileName().toString(), () -> compare(each)));
    }

    /** Compares every read of a vector that Hudi has, and counts the outcomes. */
    static void compare(Path vector) throws IOException {
        JsonNode reason = json(vector.resolve("meta.json")).get("not_compared").get(ENGINE);
        if (reason != null) {
            count("not compared: " + reason.asText());
            return;
        }
        List<String> unknown = new ArrayList<>();
        for (JsonNode read : json(vector.resolve("expected/reads.json"))) {
            if (!KINDS.contains(read.get("kind").asText()) || read.has("refused")) {
                count("not compared: no such read, or one that must be refused");
                continue;
            }
            JsonNode known = read.path("differs").get(ENGINE);
            String expected = expected(read).toString();
            String answer = answer(vector.resolve("table"), read);
            if (answer.equals(expected)) {
                count(known == null ? "agree" : "agree, though known: " + known.asText());
            } else if (known != null) {
                count("known: " + known.asText());
            } else {
                count("UNKNOWN");
                unknown.add("%s (%s, %s]: %s instead of %s".formatted(
                    read.get("kind"), read.get("after"), read.get("until"), answer, expected));
            }
        }
        assertEquals(List.of(), unknown);
    }

    /** Returns the right rows of a read: key, ordering, value and requested time. */
    static List<String> expected(JsonNode read) {
        List<String> rows = new ArrayList<>();
        for (JsonNode row : read.get("rows")) {
            rows.add(row(row.get("key").asText(), row.get("ordering").asLong(),
                row.get("value").isNull() ? null : row.get("value").asText(), row.get("requested").asText()));
        }
        rows.sort(null);
        return rows;
    }

    /** Returns Hudi's rows, or the error. */
    static String answer(Path table, JsonNode read) {
        DataFrameReader reader = spark.read().format("hudi").option("hoodie.metadata.enable", "false");
        switch (read.get("kind").asText()) {
            case "as_of" -> reader.option("as.of.instant", read.get("until").asText());
            case "read_optimized" -> reader.option(QUERY, "read_optimized");
            case "incremental" -> reader.option(QUERY, "incremental")
                .option(READ + "begin.instanttime", read.get("after").isNull() ? "000" : read.get("after").asText())
                .option(READ + "end.instanttime", read.get("until").asText());
            default -> { }
        }
        try {
            List<String> rows = new ArrayList<>();
            for (Row row : reader.load(table.toString()).select("id", "ts", "value", "_hoodie_commit_time")
                .collectAsList()) {
                rows.add(row(row.getString(0), ((Number) row.get(1)).longValue(), row.getString(2), row.getString(3)));
            }
            rows.sort(null);
            return rows.toString();
        } catch (Exception error) { // the causes are of many classes
            return String.valueOf(error.getMessage()).lines().findFirst().orElse("");
        }
    }

    static String row(String key, long ordering, String value, String requested) {
        return "(%s, %d, %s, %s)".formatted(key, ordering, value, requested);
    }

    static JsonNode json(Path path) throws IOException {
        return JSON.readTree(path.toFile());
    }

    static synchronized void count(String name) {
        COUNTS.merge(name, 1, Integer::sum);
    }
}
