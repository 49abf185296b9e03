"""Programs in the form of Apache Hudi's documentation: each with its page, and with the reason if nbcc refuses it.

A program is a text that says ``format("hudi")``, as its page does. `run` replaces that name by ``nbcc``, nothing else.
The names `inserts`, `updatesDf`, `widerDf` and `softDeleteDf` are DataFrames, `basePath` and `tableName` texts.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

COLUMNS: Final = ("ts", "uuid", "rider", "driver", "fare", "city")
TRIPS: Final = (
    (1695159649087, "334e", "rider-A", "driver-K", 19.1, "san_francisco"),
    (1695046462179, "9909", "rider-D", "driver-L", 33.9, "san_francisco"),
    (1695516137016, "e3cf", "rider-F", "driver-P", 34.15, "sao_paulo"),
    (1695115999911, "c8ab", "rider-J", "driver-T", 17.85, "chennai"),
)
KEYS: Final = """
hudi_options = {
    'hoodie.table.name': tableName,
    'hoodie.datasource.write.recordkey.field': 'uuid',
    'hoodie.datasource.write.partitionpath.field': 'city',
    'hoodie.datasource.write.table.name': tableName,
    'hoodie.datasource.write.operation': 'upsert',
    'hoodie.datasource.write.precombine.field': 'ts',
    'hoodie.upsert.shuffle.parallelism': 2,
    'hoodie.insert.shuffle.parallelism': 2
}
"""
CREATE: Final = KEYS + 'inserts.write.format("hudi").options(**hudi_options).mode("overwrite").save(basePath)\n'
READ: Final = 'found = spark.read.format("hudi").load(basePath)\n'


class Program(NamedTuple):
    """`rows` is the number of rows of the DataFrame `found` at the end; `refused` what the error says, or ''."""

    page: str
    name: str
    text: str
    rows: int = 4
    refused: str = ""


def write(options: str, data: str = "inserts", mode: str = "append") -> str:
    """A write with more options than `hudi_options`."""
    more = f"options(**hudi_options).options(**{{{options}}})"
    return f'{KEYS}{data}.write.format("hudi").{more}.mode("{mode}").save(basePath)\n'


def _written(page: str, name: str, options: str, refused: str = "") -> Program:
    """A first write with some options, then a snapshot."""
    return Program(page, name, write(options) + READ, refused=refused)


QUICK, OPERATIONS, BATCH = "quick-start-guide", "write_operations", "writing_tables_batch_writes"
KEYGEN, CONCURRENCY, MERGER = "key_generation", "concurrency_control", "record_merger"
_KEYGEN = "'hoodie.datasource.write.keygenerator.class': 'org.apache.hudi.keygen."
_LOCK = (
    "'hoodie.write.concurrency.mode': 'optimistic_concurrency_control', 'hoodie.write.lock.provider': 'org.apache.hudi"
)
PROGRAMS: Final = (
    Program(QUICK, "without a record key", """
hudi_options = {'hoodie.table.name': tableName, 'hoodie.datasource.write.partitionpath.field': 'city'}
inserts.write.format("hudi"). \\
    options(**hudi_options). \\
    mode("overwrite"). \\
    save(basePath)
""", refused="no option names a record key"),
    Program(QUICK, "insert and query", CREATE + READ),
    Program(QUICK, "overwrite a second time", CREATE + CREATE.replace("inserts", "updatesDf") + READ, rows=1),
    Program(QUICK, "update", CREATE + """
updatesDf = spark.read.format("hudi").load(basePath).filter("rider == 'rider-D'").withColumn("fare", col("fare") * 10)
updatesDf.write.format("hudi").options(**hudi_options).mode("append").save(basePath)
""" + READ + "found = found.filter('fare == 339.0')\n", rows=1),
    Program(QUICK, "delete", CREATE + """
deletesDF = spark.read.format("hudi").load(basePath).filter("rider == 'rider-F'")
hudi_hard_delete_options = {
  'hoodie.table.name': tableName,
  'hoodie.datasource.write.partitionpath.field': 'city',
  'hoodie.datasource.write.operation': 'delete',
}
deletesDF.write.format("hudi").options(**hudi_hard_delete_options).mode("append").save(basePath)
""" + READ, rows=3),
    Program(QUICK, "time travel by digits", CREATE + """
found = spark.read.format("hudi").option("as.of.instant", "20210728141108100").load(basePath)
""", refused="the first commit completed at"),
    Program(QUICK, "time travel by a text", CREATE + """
found = spark.read.format("hudi").option("as.of.instant", "2021-07-28 14:11:08.200").load(basePath)
""", refused="the first commit completed at"),
    Program(QUICK, "time travel by a date", CREATE + """
found = spark.read.format("hudi").option("as.of.instant", "2021-07-28").load(basePath)
""", refused="the first commit completed at"),
    Program(QUICK, "incremental query", CREATE + """
incremental_read_options = {
  'hoodie.datasource.query.type': 'incremental',
  'hoodie.datasource.read.begin.instanttime': '20170901080000',
}
found = spark.read.format("hudi").options(**incremental_read_options).load(basePath)
"""),
    Program(QUICK, "point in time query", CREATE + """
point_in_time_read_options = {
  'hoodie.datasource.query.type': 'incremental',
  'hoodie.datasource.read.begin.instanttime': '000',
  'hoodie.datasource.read.end.instanttime': '20170901080000',
}
found = spark.read.format("hudi").options(**point_in_time_read_options).load(basePath)
""", rows=0),
    Program(QUICK, "change data capture", write("'hoodie.table.cdc.enabled': 'true'") + """
cdc_read_options = {
  'hoodie.datasource.query.incremental.format': 'cdc',
  'hoodie.datasource.query.type': 'incremental',
  'hoodie.datasource.read.begin.instanttime': 0
}
found = spark.read.format("hudi").options(**cdc_read_options).load(basePath)
"""),
    _written(QUICK, "copy on write", "'hoodie.datasource.write.table.type': 'COPY_ON_WRITE'"),
    _written(QUICK, "merge on read", "'hoodie.datasource.write.table.type': 'MERGE_ON_READ'"),
    Program(QUICK, "read optimized", CREATE + """
found = spark.read.format("hudi").option("hoodie.datasource.query.type", "read_optimized").load(basePath)
""", rows=0),
    Program(BATCH, "soft delete", CREATE + """
softDeleteDf.write.format("hudi").options(**hudi_options).mode("append").save(basePath)
""" + READ),
    Program(BATCH, "insert overwrite", CREATE + write("'hoodie.datasource.write.operation': 'insert_overwrite'",
            "updatesDf") + READ, rows=3),
    Program(BATCH, "insert overwrite table", CREATE + write(
            "'hoodie.datasource.write.operation': 'insert_overwrite_table'", "updatesDf") + READ, rows=1),
    Program(BATCH, "delete partitions", CREATE + write(
            "'hoodie.datasource.write.operation': 'delete_partition',"
            " 'hoodie.datasource.write.partitions.to.delete': 'san_francisco'") + READ, rows=2),
    Program(BATCH, "delete by a payload", write(
            "'hoodie.datasource.write.payload.class': 'org.apache.hudi.EmptyHoodieRecordPayload'"),
            refused="set hoodie.datasource.write.operation=delete"),
    _written(OPERATIONS, "bulk insert", "'hoodie.datasource.write.operation': 'bulk_insert'"),
    _written(OPERATIONS, "insert", "'hoodie.datasource.write.operation': 'insert'"),
    _written(OPERATIONS, "insert without duplicates", "'hoodie.datasource.write.operation': 'insert',"
             " 'hoodie.datasource.write.insert.drop.duplicates': 'true'", refused="rows whose key exists"),
    _written(KEYGEN, "simple", f"{_KEYGEN}SimpleKeyGenerator'"),
    _written(KEYGEN, "complex", f"{_KEYGEN}ComplexKeyGenerator',"
             " 'hoodie.datasource.write.recordkey.field': 'uuid,rider',"
             " 'hoodie.datasource.write.partitionpath.field': 'city,driver'"),
    _written(KEYGEN, "non-partitioned", f"{_KEYGEN}NonpartitionedKeyGenerator',"
             " 'hoodie.datasource.write.partitionpath.field': ''"),
    _written(KEYGEN, "custom, simple", "'hoodie.datasource.write.partitionpath.field': 'city:SIMPLE'"),
    _written(KEYGEN, "timestamp", f"{_KEYGEN}TimestampBasedKeyGenerator',"
             " 'hoodie.keygen.timebased.timestamp.type': 'EPOCHMILLISECONDS'", refused="it would format a time"),
    _written(MERGER, "event time", "'hoodie.record.merge.mode': 'EVENT_TIME_ORDERING'"),
    _written(MERGER, "commit time", "'hoodie.write.record.merge.mode': 'COMMIT_TIME_ORDERING'"),
    _written(MERGER, "a payload of one's own", "'hoodie.datasource.write.payload.class': 'com.example.Payload'",
             refused="may make a row that is in none of the writes"),
    _written(CONCURRENCY, "non-blocking", "'hoodie.datasource.write.table.type': 'MERGE_ON_READ',"
             " 'hoodie.index.type': 'BUCKET', 'hoodie.bucket.index.hash.field': 'uuid',"
             " 'hoodie.write.concurrency.mode': 'NON_BLOCKING_CONCURRENCY_CONTROL'"),
    _written(CONCURRENCY, "optimistic", f"{_LOCK}.client.transaction.lock.StorageBasedLockProvider',"
             " 'hoodie.cleaner.policy.failed.writes': 'LAZY'"),
    _written(CONCURRENCY, "early conflict detection", f"{_LOCK}.client.transaction.lock.FileSystemBasedLockProvider',"
             " 'hoodie.write.concurrency.early.conflict.detection.enable': 'true'"),
    _written(CONCURRENCY, "in one process", f"{_LOCK}.client.transaction.lock.InProcessLockProvider'",
             refused="InProcessLockProvider excludes the threads of one"),
    _written(CONCURRENCY, "by DynamoDB", f"{_LOCK}.aws.transaction.lock.DynamoDBBasedLockProvider'",
             refused="use one of InProcessLockProvider"),
    _written("indexes", "bloom", "'hoodie.index.type': 'BLOOM', 'hoodie.bloom.index.update.partition.path': 'false'"),
    _written("indexes", "record level", "'hoodie.index.type': 'RECORD_INDEX',"
             " 'hoodie.metadata.record.index.enable': 'true'",
             refused="a global index keeps one row of a key in the whole table"),
    _written("metadata", "metadata table", "'hoodie.metadata.enable': 'true',"
             " 'hoodie.metadata.index.column.stats.enable': 'true'"),
    _written("syncing_metastore", "hive", "'hoodie.datasource.hive_sync.enable': 'true',"
             " 'hoodie.datasource.hive_sync.mode': 'hms', 'hoodie.datasource.hive_sync.table': tableName"),
    _written("compaction", "inline", "'hoodie.compact.inline': 'true', 'hoodie.compact.inline.max.delta.commits': '1'"),
    _written("clustering", "inline", "'hoodie.clustering.inline': 'true',"
             " 'hoodie.clustering.inline.max.commits': '4'"),
    _written("cleaning", "by commits", "'hoodie.clean.automatic': 'true', 'hoodie.cleaner.commits.retained': '10',"
             " 'hoodie.cleaner.policy': 'KEEP_LATEST_COMMITS'"),
    _written("file_sizing", "sizes", "'hoodie.parquet.max.file.size': '125829120',"
             " 'hoodie.parquet.small.file.limit': '104857600', 'hoodie.copyonwrite.record.size.estimate': '1024'"),
    Program("schema_evolution", "a new column", CREATE + write("", "widerDf"), refused="write option mergeSchema=true"),
    Program("schema_evolution", "a new column, reconciled", CREATE + write(
            "'hoodie.datasource.write.reconcile.schema': 'true'", "widerDf") + READ),
)  # fmt: skip
STREAMS: Final = (
    Program("writing_tables_streaming_writes", "stream to another table", CREATE + """
df = spark.readStream \\
    .format("hudi") \\
    .load(basePath)
query = df.writeStream.format("hudi") \\
    .options(**hudi_options) \\
    .outputMode("append") \\
    .option("path", basePath + "_streaming") \\
    .option("checkpointLocation", basePath + "_checkpoint") \\
    .trigger(availableNow=True) \\
    .start()
query.awaitTermination()
found = spark.read.format("hudi").load(basePath + "_streaming")
"""),
    Program("quick-start-guide", "a view in SQL", CREATE + """
tripsDF = spark.read.format("hudi").load(basePath)
tripsDF.createOrReplaceTempView("trips_table")
found = spark.sql("SELECT uuid, fare, ts, rider, driver, city FROM trips_table WHERE fare > 20.0")
""", rows=2),
)  # fmt: skip
"""These need Spark itself."""


def run(program: Program, names: dict[str, Any]) -> int:
    """Run a program with the name of nbcc's format, and return the number of rows of `found`."""
    names = {"tableName": "hudi_trips", **names}
    exec(program.text.replace('format("hudi")', 'format("nbcc")'), names)
    return int(names["found"].count())
