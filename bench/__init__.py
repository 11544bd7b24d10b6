"""How fast Memoranda is beside the SDK's own memory tool and beside bare system calls.

Absolute times are of one machine on one day. What counts is the ratio of two times of the same
round: all subjects do the same work in turn, in an order shuffled for each round.

    floor.py      the bare system calls, with no check of anything: not a safe store
    subjects.py   what is measured, behind one way to call it
    workloads.py  what they do; tests run the same bodies without a clock
    measure.py    rounds, times and ratios
    child.py      what has to be measured in a process of its own
    __main__.py   the command line and the tables
"""
