"""The generated part of docs/: schemas, AsyncAPI, settings, metrics and topics, from their code."""
