"""Vectors -> suite, and back: packs, indexes, pytest files, manifest; what a suite covers."""

from typing import TYPE_CHECKING

from opcert.lazy_imports import lazy_attributes
from opcert.output_files import FileContents

if TYPE_CHECKING:
    from opcert.suite.coverage import Coverage, measure_coverage
    from opcert.suite.format import (
        COPY_FOLDER,
        SERIES,
        AmbiguityText,
        CaseChange,
        CopyEntry,
        Digest,
        DigestedArray,
        DocumentText,
        ErratumText,
        Extent,
        GeneratedArray,
        IndexedCase,
        RuleText,
        Shape,
        StoredArray,
        StrictModel,
        SuiteEntry,
        TypeName,
    )
    from opcert.suite.generation import generate, generate_suite_files
    from opcert.suite.opening import load, open_certified_suite, open_suite, open_suite_of_case
    from opcert.suite.operator_suite import OperatorSuite
    from opcert.suite.rule_cases import RuleCases, cases_by_rule, valid_calls
    from opcert.suite.series import Series, is_series, load_series, series_digest
    from opcert.suite.spec_check import check_specs
    from opcert.suite.spec_warnings import RuleCounts
    from opcert.suite.suite import CasesById, Suite, SuiteCase, core_suite_folder, read_manifest
    from opcert.suite.writing import (
        MAX_FILES,
        check_marked_folder,
        is_marked,
        refuse_foreign_files,
        replace_marked_folder,
        write_suite,
    )

__all__ = [
    "COPY_FOLDER",
    "MAX_FILES",
    "SERIES",
    "AmbiguityText",
    "CaseChange",
    "CasesById",
    "CopyEntry",
    "Coverage",
    "Digest",
    "DigestedArray",
    "DocumentText",
    "ErratumText",
    "Extent",
    "FileContents",
    "GeneratedArray",
    "IndexedCase",
    "OperatorSuite",
    "RuleCases",
    "RuleCounts",
    "RuleText",
    "Series",
    "Shape",
    "StoredArray",
    "StrictModel",
    "Suite",
    "SuiteCase",
    "SuiteEntry",
    "TypeName",
    "cases_by_rule",
    "check_marked_folder",
    "check_specs",
    "core_suite_folder",
    "generate",
    "generate_suite_files",
    "is_marked",
    "is_series",
    "load",
    "load_series",
    "measure_coverage",
    "open_certified_suite",
    "open_suite",
    "open_suite_of_case",
    "read_manifest",
    "refuse_foreign_files",
    "replace_marked_folder",
    "series_digest",
    "valid_calls",
    "write_suite",
]

# To read a suite takes little of this package.
__getattr__ = lazy_attributes(
    __name__,
    {
        "coverage": ("Coverage", "measure_coverage"),
        "format": (
            "COPY_FOLDER",
            "SERIES",
            "AmbiguityText",
            "CaseChange",
            "CopyEntry",
            "Digest",
            "DigestedArray",
            "DocumentText",
            "ErratumText",
            "Extent",
            "GeneratedArray",
            "IndexedCase",
            "RuleText",
            "Shape",
            "StoredArray",
            "StrictModel",
            "SuiteEntry",
            "TypeName",
        ),
        "generation": ("generate", "generate_suite_files"),
        "opening": ("load", "open_certified_suite", "open_suite", "open_suite_of_case"),
        "operator_suite": ("OperatorSuite",),
        "rule_cases": ("RuleCases", "cases_by_rule", "valid_calls"),
        "series": ("Series", "is_series", "load_series", "series_digest"),
        "spec_check": ("check_specs",),
        "spec_warnings": ("RuleCounts",),
        "suite": ("CasesById", "Suite", "SuiteCase", "core_suite_folder", "read_manifest"),
        "writing": (
            "MAX_FILES",
            "check_marked_folder",
            "is_marked",
            "refuse_foreign_files",
            "replace_marked_folder",
            "write_suite",
        ),
    },
)
