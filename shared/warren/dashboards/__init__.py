"""Grafana dashboards, described once and typed: deploy/grafana/ is generated from here."""
