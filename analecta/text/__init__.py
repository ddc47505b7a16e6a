"""Text: tokens, stems, languages, fingerprints, and how it is shown safely."""
