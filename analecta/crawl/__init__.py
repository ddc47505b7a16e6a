"""The loop, and those who steer it. `build.py` alone knows every part by name."""
