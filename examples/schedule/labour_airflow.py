"""Release the labour force survey once a quarter has ended.

A run that finds a file missing has spent nothing: the task is tried again. What a
person has to mend fails at once, without further tries.
"""

import subprocess
from datetime import datetime, timedelta, timezone

from airflow.decorators import dag, task
from airflow.exceptions import AirflowException, AirflowFailException

TRY_AGAIN = {1, 75, 130, 143}  # the machine; what comes with time; a run that was stopped


def quarter_of(start: datetime) -> str:
    """Return the quarter in which the interval of a run begins, as 2026q1."""
    return f"{start.year}q{(start.month + 2) // 3}"


def release(quarter: str) -> None:
    """Make the release of a quarter, or find that it is made already."""
    code = subprocess.run(["release-quarter", quarter], check=False, stdout=subprocess.DEVNULL).returncode
    if code in TRY_AGAIN:
        raise AirflowException(f"{quarter}: exit code {code}, to be tried again")
    if code != 0:
        raise AirflowFailException(f"{quarter}: exit code {code}, which waits for a person")


@dag(
    schedule="0 6 20 1,4,7,10 *",
    start_date=datetime(2026, 1, 1, tzinfo=timezone.utc),
    catchup=False,
    max_active_runs=1,
    default_args={"retries": 7, "retry_delay": timedelta(days=1)},
)
def labour():
    @task
    def release_quarter(data_interval_start=None):
        release(quarter_of(data_interval_start))

    release_quarter()


labour()
