"""Reading what a comment carries: fenced YAML, ``key: value`` lines, bullets, and their schemas.

What may live here: turning text into values that know their lines, and JSON Schema over them.
What may not: what a family means by them (``validators``), any I/O.
"""
