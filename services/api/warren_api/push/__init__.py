"""What `/metrics` serves, pushed to a receiver of OpenTelemetry's OTLP."""
