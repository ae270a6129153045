"""What every request goes through, whatever interface it is for."""
