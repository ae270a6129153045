"""The generated part of docs/, from the code that it describes; in no wheel."""
