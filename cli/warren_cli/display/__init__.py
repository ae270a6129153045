"""What is shown of groups: tables, and the screens of `warren up`."""
