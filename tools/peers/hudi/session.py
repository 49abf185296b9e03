"""Starts a JVM with Hudi, and converts Python values to the Java values that Hudi's client takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from pyspark.sql import SparkSession

from .calls import CONTROLLED, FILE_SYSTEM, configuration
from .release import VERSION

BUNDLE = f"org.apache.hudi:hudi-spark3.5-bundle_2.12:{VERSION}"
_CONFIG = {
    "spark.jars.packages": BUNDLE,
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
    "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
    "spark.sql.shuffle.partitions": "1",
    "spark.default.parallelism": "1",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.adaptive.enabled": "false",
    "spark.driver.memory": "2g",
    # Short-lived process with many small jobs: the second compiler never pays off, and most garbage is young.
    "spark.driver.extraJavaOptions": "-Duser.timezone=UTC -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmn1g",
}


@cache
def spark() -> Any:
    """Return the Spark session of this process. The first call starts the JVM."""
    builder: Any = SparkSession.builder
    for name, value in {**_CONFIG, **configuration()}.items():
        builder = builder.config(name, value)
    # A task keeps its place while its storage call waits for an answer, and an archive has several tasks.
    session = builder.master("local[64]" if CONTROLLED else "local[2]").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    # Hadoop's defaults are sent with every job. The code that reads an option has the same default.
    session._jsc.hadoopConfiguration().clear()
    if CONTROLLED:
        session._jsc.hadoopConfiguration().set(*FILE_SYSTEM)
    # No checksum files: for each file that it creates Hadoop starts a process that sets the mode.
    session._jvm.org.apache.hadoop.fs.FileSystem.getLocal(session._jsc.hadoopConfiguration()).setWriteChecksum(False)
    return session


class Package:
    """A Java package that caches its members when they are first used. Without caching, the JVM would search every jar
    for each part of a dotted name.
    """

    def __init__(self, of_py4j: Any) -> None:
        self._of_py4j = of_py4j

    def __getattr__(self, name: str) -> Any:
        """Return the package's member with this name, and cache it."""
        member = getattr(self._of_py4j, name)
        cached = Package(member) if type(member) is type(self._of_py4j) else member
        self.__dict__[name] = cached
        return cached


@cache
def java() -> Any:
    return Package(spark()._jvm.java)


@cache
def org() -> Any:
    """Return the Java package ``org``, which contains Hudi's classes."""
    return Package(spark()._jvm.org)


@cache
def scala() -> Any:
    return Package(spark()._jvm.scala)


def hudi() -> Any:
    """Return the Java package ``org.apache.hudi``."""
    return org().apache.hudi


def java_map(entries: Mapping[str, object]) -> Any:
    entries_map = java().util.HashMap()
    for name, value in entries.items():
        entries_map.put(name, str(value))
    return entries_map


def java_list(entries: Iterable[object]) -> Any:
    entries_list = java().util.ArrayList()
    for entry in entries:
        entries_list.add(entry)
    return entries_list


def java_array(values: Sequence[object], of: str = "Object") -> Any:
    """Return the values as a Java array. `of` is the name of the elements' class in the package java.lang."""
    array = spark().sparkContext._gateway.new_array(getattr(java().lang, of), len(values))
    for place, value in enumerate(values):
        array[place] = value
    return array


def items(collection: Any) -> list[Any]:
    """Return the items of a Java collection or stream as a list.

    Iteration through Py4J would be slow, because the exception that ends it makes Py4J search every jar.
    """
    array = collection.toArray()
    return [array[place] for place in range(len(array))]


def nothing() -> Any:
    """Return the empty value of Hudi's class ``Option``."""
    return hudi().common.util.Option.empty()


def hidden(target: Any, name: str, *arguments: object) -> Any:
    """Call a Java method that is not public, and return its result."""
    kind = target.getClass()
    while kind is not None:
        for method in kind.getDeclaredMethods():
            if method.getName() == name and method.getParameterCount() == len(arguments):
                method.setAccessible(True)
                return method.invoke(target, java_array(arguments))
        kind = kind.getSuperclass()
    raise RuntimeError(f"{target.getClass().getName()} has no method {name} of {len(arguments)} arguments")


def engine_context() -> Any:
    """Return Hudi's wrapper of the Spark context."""
    return hudi().client.common.HoodieSparkEngineContext(spark()._jsc)


def local_context() -> Any:
    """Return the context of Hudi's local engine, which lists a table in threads, without a Spark job."""
    return hudi().common.engine.HoodieLocalEngineContext(storage_configuration())


def storage_configuration() -> Any:
    """Return Hudi's wrapper of the Hadoop configuration."""
    return hudi().hadoop.fs.HadoopFSUtils.getStorageConf(spark()._jsc.hadoopConfiguration())


def causes(error: Exception) -> str:
    """Return the first line of each cause of an error, outermost cause first."""
    cause: Any = getattr(error, "java_exception", None)
    if cause is None:
        return f"{type(error).__name__}: {error}"
    chain: list[str] = []
    while cause is not None:
        chain.append(cause.toString().split("\n")[0].split("Driver stacktrace")[0])
        cause = cause.getCause()
    return " <- ".join(dict.fromkeys(chain)).replace("org.apache.hudi.", "")
