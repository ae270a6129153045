"""What was: the archive's tables read without Spark, and the history of groups and topics."""
