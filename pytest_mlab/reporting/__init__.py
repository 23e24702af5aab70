"""What the controller makes of the trials: live lines, the table, JSON and JUnit figures."""
