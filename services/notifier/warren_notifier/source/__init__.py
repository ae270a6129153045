"""The events of `warren.lag-status`, and where reading them begins."""
