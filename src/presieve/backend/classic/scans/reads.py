# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Determine, by Spark's own code, what a scan of files reads: which files it chooses,
which row groups the reader of Parquet keeps, and which rows of these groups remain after their
pages are checked. No proof depends on it.

Spark chooses directories by the columns in their names, and files by the bucket in theirs
(``FileSourceScanExec``). The reader compares extremes, dictionaries and Bloom filters of row
groups, and then the extremes of pages (``ParquetFileReader``). It is opened here as Spark opens it,
and no row is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from msgspec import Struct

from presieve.backend.classic.jvm_plans import JvmPlans
from presieve.backend.classic.py4j_errors import (
    each,
    java_class,
    java_constant,
    members,
    simple_class,
    translate_errors,
)
from presieve.backend.classic.scans import iceberg
from presieve.backend.gateway import Handle
from presieve.backend.statistics.estimates import local
from presieve.cost.estimate import Limit, pick_spread
from presieve.cost.parquet_scan import Reads

FILE_SCAN = "FileSourceScanExec"
MOST_FILES = 4096
"""Maximum number of a scan's files to look at."""
OPENED = 8
"""Maximum number of files to open."""
SECONDS = Limit(0.05, 0.1)
"""Time limit. The file that is being opened when it ends is the last."""

_SQL = "org.apache.spark.sql"
_PARQUET = "org.apache.parquet"
_FLAGS = ("Date", "Timestamp", "Decimal", "StringPredicate")


class Chosen(Struct, frozen=True):
    """The number of ``files`` of a scan, the number that it chooses, and the URIs of ``some``
    chosen files, from the middle of equal parts.
    """

    files: int
    chosen: int
    some: tuple[str, ...]

    @property
    def are_local(self) -> bool:
        """Whether ``some`` are files of this machine: nothing is read from remote file systems."""
        return None not in map(local, self.some)


@translate_errors
def list_chosen_files(plans: JvmPlans, scan: Handle) -> Chosen | None:
    """Return the files that a ``FileSourceScanExec`` chooses; None if it has too many."""
    location = scan.relation().location()
    every = len(location.inputFiles())
    if every > MOST_FILES:
        return None
    listed = each(location.listFiles(scan.partitionFilters(), scan.dataFilters()))
    files = [
        (directory.files(), i) for directory in listed for i in range(directory.files().size())
    ]
    buckets = scan.optionalBucketSet()
    if buckets.isDefined():
        utils = java_class(plans.jvm, f"{_SQL}.execution.datasources.BucketingUtils")
        names = (listing.apply(i).getPath().getName() for listing, i in files)
        numbers = [utils.getBucketId(name) for name in names]
        chosen_flags = [not n.isDefined() or buckets.get().get(n.get()) for n in numbers]
        files = [file for file, is_kept in zip(files, chosen_flags, strict=True) if is_kept]
    some = (listing.apply(i).getPath() for listing, i in pick_spread(files, OPENED))
    return Chosen(every, len(files), tuple(str(path.toUri().toString()) for path in some))


def is_parquet(scan: Handle) -> bool:
    """Whether the files of a scan are Parquet files."""
    return simple_class(scan.relation().fileFormat()) == "ParquetFileFormat"


def filters_of_scan(scan: Handle) -> list[Handle]:
    """Return the filters that a scan hands to its reader, in the form for sources."""
    return list(each(scan.pushedDownFilters()))


class Reader:
    """The reader of Parquet with some of the filters that a scan hands to it. All methods may raise
    :class:`GatewayError`.
    """

    @translate_errors
    def __init__(self, plans: JvmPlans, scan: Handle, filters: Sequence[Handle]) -> None:
        self._plans, self._scan, self._filters = plans, scan, filters
        jvm = plans.jvm
        self._conf = plans.jsession.sessionState().newHadoopConf()
        self._path = java_class(jvm, "org.apache.hadoop.fs.Path")
        self._input = java_class(jvm, f"{_PARQUET}.hadoop.util.HadoopInputFile")
        self._open = java_class(jvm, f"{_PARQUET}.hadoop.ParquetFileReader").open
        # Without options, a reader loads Hadoop's configuration anew: 15 ms in place of 1.
        self._builder = java_class(jvm, f"{_PARQUET}.HadoopReadOptions").builder(self._conf)
        self._options: Handle | None = None
        self._used = False

    def of_all(self, uris: Sequence[str], limit: Limit = SECONDS) -> Reads:
        """Sum up the row groups and rows that are kept of these files; of fewer files if the time
        limit is reached.
        """
        until, total = limit.starts(), Reads()
        for uri in uris:
            total += self.of(uri)
            if until.over:
                break
        return total

    @translate_errors
    def of(self, uri: str) -> Reads:
        """Count the row groups and rows that are kept of a file. The first file determines the
        schema and the reader's form of the filters.
        """
        file = self._input.fromPath(self._path(uri), self._conf)
        if self._options is None:
            with_all = self._open(file, self._builder.build())
            try:
                self._options = self._with_filter(with_all.getFileMetaData().getSchema())
            finally:
                with_all.close()
        reader = self._open(file, self._options)
        try:
            blocks = [int(b.getRowCount()) for b in members(reader.getFooter().getBlocks())]
            read, kept_groups = (
                int(reader.getFilteredRecordCount()),
                int(reader.getRowGroups().size()),
            )
            return Reads(sum(blocks), read, len(blocks), kept_groups, self._used)
        finally:
            reader.close()

    def _with_filter(self, schema: Handle) -> Handle:
        jvm = self._plans.jvm
        predicate = self._filter(schema)
        if predicate is None:
            return self._builder.build()
        self._used = True
        compat = java_class(jvm, f"{_PARQUET}.filter2.compat.FilterCompat")
        return self._builder.withRecordFilter(compat.get(predicate)).build()

    def _filter(self, schema: Handle) -> Handle | None:
        """Return the conjunction of all filters that the reader of Parquet understands
        (``ParquetFilters.scala``).
        """
        jvm = self._plans.jvm
        conf = self._plans.jsession.sessionState().conf()
        if not conf.parquetFilterPushDown():
            return None
        correct = java_constant(jvm, f"{_SQL}.internal.LegacyBehaviorPolicy", "CORRECTED")
        rebase = java_class(jvm, f"{_SQL}.catalyst.util.RebaseDateTime.RebaseSpec")
        filters = java_class(jvm, f"{_SQL}.execution.datasources.parquet.ParquetFilters")
        flags = [getattr(conf, f"parquetFilterPushDown{name}")() for name in _FLAGS]
        most, exact = conf.parquetFilterPushDownInFilterThreshold(), conf.caseSensitiveAnalysis()
        none = java_constant(jvm, "scala.Option", "empty")
        arguments = (schema, *flags, most, exact, rebase(correct, none))
        types = java_class(jvm, "scala.Option").apply(self._scan.requiredSchema())
        translator = self._plans.adapter.parquet_filters(filters, arguments, types)
        predicates = [translator.createFilter(f) for f in self._filters]
        both = java_class(jvm, f"{_PARQUET}.filter2.predicate.FilterApi")
        translated = [f.get() for f in predicates if f.isDefined()]
        return reduce(getattr(both, "and"), translated) if translated else None


def scans(physical: Handle) -> list[tuple[str, dict[str, str]]]:
    """Return, for each leaf of a physical plan, its name and its metadata about pushed filters."""
    return [_scan(leaf) for leaf in each(physical.collectLeaves())]


def _scan(leaf: Handle) -> tuple[str, dict[str, str]]:
    filter_texts: dict[str, str] = {}
    if iceberg.is_scan(leaf):
        filter_texts["PartitionFilters"] = (
            f"[{', '.join(map(iceberg.in_catalyst, iceberg.filters_of_scan(leaf)))}]"
        )
    if simple_class(leaf) == FILE_SCAN:
        metadata = leaf.metadata()
        for key in ("PushedFilters", "PartitionFilters"):
            value = metadata.get(key)
            if value.isDefined():
                filter_texts[key] = str(value.get())
    return str(leaf.nodeName()), filter_texts


@translate_errors
def estimate_skipped_share(plans: JvmPlans, filtered: Handle) -> float | None:
    """Return the share of the rows that the scan below a filter on local files skips. None if the
    files are elsewhere, are not Parquet, or are read otherwise.
    """
    leaves = each(plans.dataset(filtered).queryExecution().sparkPlan().collectLeaves())
    scan = next(leaves)
    if iceberg.is_scan(scan):
        counted = iceberg.rows(scan) if local(iceberg.location(scan)) is not None else None
        return None if counted is None else 1 - counted[1] / counted[0]
    if simple_class(scan) != FILE_SCAN or not is_parquet(scan):
        return None
    files = list_chosen_files(plans, scan)
    if files is None or not files.files or not files.are_local:
        return None
    read = Reader(plans, scan, filters_of_scan(scan)).of_all(files.some)
    return 1 - files.chosen / files.files * (1 - read.skipped)
