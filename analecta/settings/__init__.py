"""What a person wrote in a library's settings: read, checked, merged, edited."""
