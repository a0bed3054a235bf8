"""Verdicts -> certificate: a whole run or the rest of one, its file, folder and signature."""
