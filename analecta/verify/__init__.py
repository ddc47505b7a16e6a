"""`analecta verify`: is every file of a library what it was when it was written, and what can be repaired?

`steps` lists what is looked at, `run` goes through it and remembers how far it came, `repair` puts right what it can.
The checks themselves are in the parts that own the files (store/verify_*.py, judge/model_files.py, publish/).
"""
