"""Dashboards of Grafana, typed: deploy/grafana/ is generated from here; in no wheel."""
