"""Silver: typed tables of what happened, computed from the events as they are in bronze.

Pure functions of data frames, the same for what has just come and for all that there is.
"""
