"""What a study leaves for people and scripts to read.

`write_report` writes a folder's tables, pages and plots; `trec` writes the answers and the truth
that they were computed from. Importing this package is cheap: pandas, matplotlib, plotly and
Jinja are imported when a report is written.
"""

from harness.report.model import LossSplit, ReportContext
from harness.report.write import write_report

__all__ = ["LossSplit", "ReportContext", "write_report"]
