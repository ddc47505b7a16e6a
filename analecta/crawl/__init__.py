"""The loop, and those who steer it. `recipe.py` alone knows every part by name."""
