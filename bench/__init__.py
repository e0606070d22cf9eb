"""What an upsert costs, measured beside peers; started by ``make bench``, never by a test.

``serve`` is a forge in a process of its own, ``forge`` talks to it, ``measure`` runs one process
and weighs it, ``tools`` are the contestants, ``figures`` what is measured, ``page`` how it reads.
"""
