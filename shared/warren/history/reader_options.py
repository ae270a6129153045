"""Options of a lake by URL for readers without Spark, from those that Spark is given."""

from warren.settings import ArchiverSettings

_DELTA_RS = {
    "fs.s3a.endpoint": "AWS_ENDPOINT_URL",
    "fs.s3a.endpoint.region": "AWS_REGION",
    "fs.s3a.access.key": "AWS_ACCESS_KEY_ID",
    "fs.s3a.secret.key": "AWS_SECRET_ACCESS_KEY",
    "fs.s3a.session.token": "AWS_SESSION_TOKEN",
}


def reader_options(archiver: ArchiverSettings) -> dict[str, str]:
    """In delta-rs's words; what is not set is found in the environment, as its documentation says.

    Hadoop's prefix `spark.hadoop.` may be there or not.
    """
    given = {
        name.removeprefix("spark.hadoop."): text.get_secret_value()
        for name, text in archiver.spark.items()
    }
    options = {theirs: given[name] for name, theirs in _DELTA_RS.items() if name in given}
    if options.get("AWS_ENDPOINT_URL", "").startswith("http:"):
        options["AWS_ALLOW_HTTP"] = "true"
    return options
