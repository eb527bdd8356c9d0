"""Logs: records with times, which grow and are asked by time and by value."""
