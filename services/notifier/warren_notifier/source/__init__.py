"""The events of `warren.incidents`, and where reading them begins."""
