"""Where committed offsets come from: records that are read, snapshots of what is asked."""
