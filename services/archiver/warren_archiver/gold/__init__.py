"""What follows from silver, by the hour and by the day: pure functions of tables, and what keeps
them up.
"""
