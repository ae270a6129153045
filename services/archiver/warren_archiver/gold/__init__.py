"""What follows from silver, by the hour and by the day, and the SQL that makes it."""
